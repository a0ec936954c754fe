package dev.vamana.elasticsearch;

import dev.vamana.tools.arguments.Arguments;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;

/**
 * A node whose GPU is simulated, with some minutes of searches, batches, uploads and searches that
 * the CPU answers: for looking at metrics. docs/internals/testing.md has the command.
 */
public final class MonitoredNode {
  private static final int DIMS = 2048;
  private static final int COUNT = 4500;
  private static final TestVectors VECTORS = TestVectors.random(COUNT, DIMS, 17);

  /** Less than two of the indices need. */
  private static final String DEVICE_MEMORY = "64mb";

  private final RunningNode node;
  private final int phaseSeconds;
  private volatile boolean ended;

  private MonitoredNode(RunningNode node, int phaseSeconds) {
    this.node = node;
    this.phaseSeconds = phaseSeconds;
  }

  /**
   * Runs the node.
   *
   * @param arguments {@code --phase=60}: seconds of each of the five phases
   */
  public static void main(String[] arguments) throws Exception {
    Arguments given = Arguments.parse(List.of("phase"), arguments);
    NodeHome home = SimulatedGpuNode.home("monitored");
    NodeOptions options =
        PluginNode.options()
            .withSetting("node.name", "simulated-gpu")
            .withSetting("vamana.gpu.enabled", "required")
            .withSetting("vamana.gpu.placement", "device")
            .withSetting("vamana.gpu.precision", "float32")
            .withSetting("vamana.gpu.memory.limit", DEVICE_MEMORY);
    try (RunningNode node = RunningNode.start(home, options)) {
      new MonitoredNode(node, given.number("phase", 1, 3600, 60)).run();
    } finally {
      home.delete();
    }
  }

  private void run() throws Exception {
    say("an index is made");
    pin("\"graph\"");
    TestIndex photos = create("photos");
    say("one client");
    List<Thread> clients = new ArrayList<>();
    clients.add(client(1, List.of(photos)));
    pause();
    say("eight clients, and batches of 32 vectors");
    for (int i = 2; i <= 8; i++) {
      clients.add(client(i, List.of(photos)));
    }
    clients.add(start(() -> batches(photos)));
    pause();
    say("the plan is the CPU");
    pin("\"cpu\"");
    pause();
    say("the plan is the graph on the GPU again");
    pin("\"graph\"");
    pause();
    say("another index, too large for the device beside the first, and both are searched");
    TestIndex pictures = create("pictures");
    clients.add(client(9, List.of(photos, pictures)));
    pause();
    ended = true;
    for (Thread client : clients) {
      client.join();
    }
  }

  private void pin(String plan) throws IOException {
    node.client().set("vamana.gpu.plan", plan);
  }

  private void say(String what) {
    System.out.println(String.format(Locale.ROOT, "%s: %s", node.httpUri(), what));
  }

  private void pause() throws InterruptedException {
    TimeUnit.SECONDS.sleep(phaseSeconds);
  }

  private static String document(int doc) {
    return "{\"v\": " + VECTORS.json(doc) + "}";
  }

  private TestIndex create(String name) throws IOException {
    TestIndex index =
        TestIndex.create(
            node.client(),
            name,
            TestIndex.VAMANA + ", \"index.number_of_shards\": 1",
            TestIndex.denseVector("v", "float", DIMS, "l2_norm", "hnsw"));
    for (int from = 0; from < COUNT; from += COUNT / 6) {
      index.index(from, from + COUNT / 6, MonitoredNode::document);
    }
    return index;
  }

  private Thread client(int seed, List<TestIndex> indices) {
    return start(
        () -> {
          Random random = new Random(seed);
          while (ended == false) {
            float[] query = VECTORS.vector(random.nextInt(COUNT));
            indices.get(random.nextInt(indices.size())).knn("v", query, 10, 60);
            TimeUnit.MILLISECONDS.sleep(random.nextInt(60));
          }
        });
  }

  private void batches(TestIndex index) throws Exception {
    Random random = new Random(0);
    while (ended == false) {
      StringJoiner vectors = new StringJoiner(",", "[", "]");
      for (int i = 0; i < 32; i++) {
        vectors.add(VECTORS.json(random.nextInt(COUNT)));
      }
      NodeClient client = node.client();
      client.post(
          "/" + index.name() + "/_vamana/search",
          "{\"field\": \"v\", \"k\": 10, \"num_candidates\": 60, \"query_vectors\": "
              + vectors
              + "}");
      TimeUnit.MILLISECONDS.sleep(500 + random.nextInt(500));
    }
  }

  private interface Work {
    void run() throws Exception;
  }

  private static Thread start(Work work) {
    Thread thread =
        new Thread(
            () -> {
              try {
                work.run();
              } catch (IOException e) {
                throw new UncheckedIOException(e);
              } catch (Exception e) {
                throw new IllegalStateException(e);
              }
            });
    thread.setDaemon(true);
    thread.start();
    return thread;
  }
}
