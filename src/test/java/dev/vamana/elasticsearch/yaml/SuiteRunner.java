package dev.vamana.elasticsearch.yaml;

import java.io.IOException;
import java.net.URI;
import org.junit.AssumptionViolatedException;

/** Runs tests against a cluster, and removes from it what they leave behind. */
public final class SuiteRunner implements AutoCloseable {
  private final RestClient client;
  private final ApiSpecs specs;
  private final ClusterInfo cluster;
  private final Leftovers leftovers;
  private InjectedSettings installed = InjectedSettings.NONE;

  /**
   * A runner for a cluster.
   *
   * @param node address of a node, such as {@code http://127.0.0.1:9200}
   */
  public SuiteRunner(URI node) throws IOException {
    client = new RestClient(node);
    specs = new ApiSpecs();
    cluster = new ClusterInfo(client);
    leftovers = Leftovers.before(client);
  }

  /**
   * Runs one test, with the file's setup and teardown.
   *
   * @param injected settings of all indices that it creates
   * @throws AssumptionViolatedException if the cluster is not one that the test is for
   * @throws AssertionError if the test fails, with file and line
   */
  public void run(Suite suite, Suite.Section test, InjectedSettings injected) throws IOException {
    for (Suite.Section section : new Suite.Section[] {suite.setup(), suite.teardown(), test}) {
      for (Prerequisite prerequisite : section.prerequisites()) {
        String complaint = prerequisite.complaint(cluster);
        if (complaint != null) {
          throw new AssumptionViolatedException(suite.name() + ": " + complaint);
        }
      }
    }
    Throwable failure = null;
    try {
      install(injected);
      execute(suite, suite.setup(), injected);
      execute(suite, test, injected);
    } catch (IOException | RuntimeException | AssertionError e) {
      failure = e;
    }
    failure = after(failure, () -> execute(suite, suite.teardown(), injected));
    failure = after(failure, leftovers::remove);
    rethrow(failure);
  }

  private void install(InjectedSettings injected) throws IOException {
    if (!injected.equals(installed)) {
      installed.remove(client);
      installed = InjectedSettings.NONE;
      injected.install(client);
      installed = injected;
    }
  }

  /** Something that runs whether or not what came before has failed. */
  private interface Ending {
    void run() throws IOException;
  }

  private static Throwable after(Throwable failure, Ending ending) {
    try {
      ending.run();
    } catch (IOException | RuntimeException | AssertionError e) {
      if (failure == null) {
        return e;
      }
      failure.addSuppressed(e);
    }
    return failure;
  }

  private static void rethrow(Throwable failure) throws IOException {
    switch (failure) {
      case null -> {}
      case IOException e -> throw e;
      case RuntimeException e -> throw e;
      case Error e -> throw e;
      default -> throw new AssertionError(failure);
    }
  }

  private void execute(Suite suite, Suite.Section section, InjectedSettings injected) {
    Execution execution = new Execution(client, specs, cluster, injected);
    for (Suite.PlacedStep placed : section.steps()) {
      try {
        placed.step().run(execution);
      } catch (IOException | RuntimeException | AssertionError e) {
        throw new AssertionError(
            suite.name() + ":" + placed.line() + ": " + placed.kind() + ": " + e.getMessage(), e);
      }
    }
  }

  @Override
  public void close() throws IOException {
    try (client) {
      installed.remove(client);
    }
  }
}
