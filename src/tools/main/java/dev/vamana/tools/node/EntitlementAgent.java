package dev.vamana.tools.node;

import java.lang.instrument.Instrumentation;

/**
 * Java agent that hands the instrumentation to Elasticsearch's entitlement initialization.
 *
 * <p>The node attaches the only jar in {@code lib/entitlement-agent} to itself and passes the name
 * of its initialization class. The distribution's own agent jar is not on Maven Central, so {@link
 * NodeHome} packs this class into a jar instead.
 */
public final class EntitlementAgent {

  private EntitlementAgent() {}

  /**
   * Called by the JVM in the node when it attaches the agent.
   *
   * @param initializer name of the class whose {@code initialize(Instrumentation)} is called
   * @param instrumentation the JVM's instrumentation
   * @throws ReflectiveOperationException if the class or its method is missing, or the method fails
   */
  public static void agentmain(String initializer, Instrumentation instrumentation)
      throws ReflectiveOperationException {
    Class.forName(initializer)
        .getMethod("initialize", Instrumentation.class)
        .invoke(null, instrumentation);
  }
}
