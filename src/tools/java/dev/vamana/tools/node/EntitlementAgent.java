package dev.vamana.tools.node;

import java.lang.instrument.Instrumentation;

/**
 * Agent that hands the instrumentation to Elasticsearch's entitlement initialization.
 *
 * <p>The node attaches the one jar in {@code lib/entitlement-agent} to itself and passes the name
 * of its initialization class. The distribution's own agent jar is not on Maven Central; {@link
 * NodeHome} packs this class into a jar instead.
 */
public final class EntitlementAgent {

  private EntitlementAgent() {}

  /**
   * Called by the JVM in the node when the agent is attached.
   *
   * @param initializer name of the class whose {@code initialize(Instrumentation)} is to be called
   * @param instrumentation the JVM's instrumentation
   * @throws ReflectiveOperationException if the class or its method is not there, or it fails
   */
  public static void agentmain(String initializer, Instrumentation instrumentation)
      throws ReflectiveOperationException {
    Class.forName(initializer)
        .getMethod("initialize", Instrumentation.class)
        .invoke(null, instrumentation);
  }
}
