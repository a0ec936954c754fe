package dev.vamana.elasticsearch;

import static org.junit.Assert.assertFalse;

import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.rules.ExternalResource;

/**
 * Nodes that several test classes use one after the other, to be a {@code @ClassRule} of each.
 * Starting a node costs more than most classes do with it. Classes run side by side, so one that
 * finds its cluster in use waits.
 *
 * <p>The first class starts them; they end with this JVM. Each class finds all of them running,
 * with no index, template, pipeline, snapshot repository or cluster setting of another class.
 * Shared codebooks and counters stay.
 */
final class SharedCluster extends ExternalResource {

  /** A node with the defaults, three threads that build graphs, and snapshots in its home. */
  static final SharedCluster ONE_NODE = new SharedCluster("vamana");

  /** Two nodes whose breakers count what they are told of; the second looks for no GPU. */
  static final SharedCluster TWO_NODES = new SharedCluster("first", "second");

  /**
   * Two such nodes, the first with an older release of Elasticsearch; it could not join the newer
   * one. It gets no replicas of the newer node's shards.
   */
  static final SharedCluster TWO_RELEASES = new SharedCluster("older", "newer");

  private static final List<String> BAD_IN_LOG = List.of("AssertionError", "NotEntitled", "LEAK");

  private final String[] names;
  private final NodeHome[] homes;
  private final RunningNode[] nodes;
  private final Lock inUse = new ReentrantLock();
  private Leftovers leftovers;

  private SharedCluster(String... names) {
    this.names = names;
    homes = new NodeHome[names.length];
    nodes = new RunningNode[names.length];
  }

  @Override
  protected void before() throws IOException {
    inUse.lock();
    boolean ready = false;
    try {
      if (homes[0] == null) {
        Runtime.getRuntime().addShutdownHook(new Thread(this::end, "end of shared nodes"));
      }
      for (int i = 0; i < names.length; i++) {
        if (nodes[i] == null || nodes[i].isAlive() == false) {
          start(i);
        }
      }
      leftovers = Leftovers.before(nodes[0].client());
      ready = true;
    } finally {
      if (ready == false) {
        inUse.unlock(); // a rule that failed before the class is not told of its end
      }
    }
  }

  @Override
  protected void after() {
    try {
      leftovers.remove();
      for (RunningNode node : nodes) {
        String log = node.log();
        for (String bad : BAD_IN_LOG) {
          assertFalse(log, log.contains(bad));
        }
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } finally {
      inUse.unlock();
    }
  }

  private void start(int i) throws IOException {
    if (homes[i] == null) {
      String name = "shared-" + names[i];
      boolean older = names[i].equals("older");
      homes[i] = older ? PluginNode.homeOfOtherRelease(name) : PluginNode.home(name);
    }
    nodes[i] = RunningNode.start(homes[i], options(i));
    nodes[0].client().get("/_cluster/health?timeout=60s&wait_for_nodes=" + (i + 1));
  }

  private NodeOptions options(int i) {
    NodeOptions options = PluginNode.options().withSetting("node.name", names[i]);
    if (names.length > 1) {
      options = options.withSetting("indices.breaker.total.use_real_memory", "false");
    }
    if (i > 0) {
      return options
          .withSetting("vamana.gpu.enabled", "off")
          .withSetting("discovery.seed_hosts", nodes[0].transportAddress());
    }
    if (names.length > 1) {
      return options.withSetting("cluster.initial_master_nodes", names[0]);
    }
    return options
        .withSetting("vamana.build.threads", "3")
        .withSetting("path.repo", homes[i].root().resolve("repository").toString());
  }

  /** The node that classes of one node use. */
  RunningNode first() {
    return nodes[0];
  }

  /** The node that joined the first. */
  RunningNode second() {
    return nodes[1];
  }

  /** Stops the last node and starts it again with its data. */
  RunningNode restartLast() throws IOException {
    int last = nodes.length - 1;
    nodes[last].stop();
    return startLast();
  }

  /** Starts the last node, which was stopped, with its data. */
  RunningNode startLast() throws IOException {
    int last = nodes.length - 1;
    start(last);
    leftovers = leftovers.at(nodes[0].client());
    return nodes[last];
  }

  private void end() {
    for (int i = names.length - 1; i >= 0; i--) {
      if (nodes[i] != null) {
        nodes[i].kill();
      }
      try {
        if (homes[i] != null) {
          homes[i].delete();
        }
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }
}
