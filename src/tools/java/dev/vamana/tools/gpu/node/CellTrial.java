package dev.vamana.tools.gpu.node;

import dev.vamana.tools.cells.GeometricMean;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.RunningNode;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.lucene.util.IOUtils;

/**
 * Asks our index and stock ones over HTTP, by number of segments and of clients: in a node with a
 * GPU, and in one with the GPU off, which share the files of segments. Another node has filled the
 * indices before. The indices of both nodes take short turns, so that what disturbs one disturbs
 * all, and both nodes are started several times, since what a JVM compiles differs from start to
 * start.
 */
public final class CellTrial {

  /** Method of our index in a node with a GPU. */
  public static final String GPU = "es-vamana-gpu";

  /** Method of our index in a node whose GPU is off. */
  public static final String CPU = "es-vamana-cpu";

  /** Method of the stock index of type {@code hnsw}. */
  public static final String STOCK = "es-hnsw";

  /** Method of the stock index of type {@code int8_hnsw}. */
  public static final String INT8 = "es-int8-hnsw";

  /** Recalls at which indices are compared. */
  public static final List<Double> RECALLS = List.of(0.95, 0.99);

  /** A shard flushes before its share of the heap is full; a segment has to fit into it. */
  private static final Map<String, String> SETTINGS =
      Map.of("vamana.gpu.plan", "auto", "indices.memory.index_buffer_size", "40%");

  private final Plan plan;
  private final Findings findings;

  /**
   * The measurements to make.
   *
   * @param parts parts of the node
   * @param set vectors and queries
   * @param placement value of {@code vamana.gpu.placement}, or {@link NodeParts#OFF} without a GPU
   * @param methods methods to measure; empty for all
   * @param segments numbers of segments
   * @param clients numbers of concurrent clients
   * @param seconds duration of a turn; each point has three or more in each start
   * @param starts how often the nodes are started for each number of segments
   */
  public record Plan(
      NodeParts parts,
      VectorSet set,
      String placement,
      List<String> methods,
      List<Integer> segments,
      List<Integer> clients,
      double seconds,
      int starts) {

    /** Modes of the nodes. */
    List<String> modes() {
      return Stream.of(placement, NodeParts.OFF).distinct().toList();
    }

    /** Methods that a node measures. The GPU's node measures {@link #INT8} for both. */
    List<String> methodsOf(String mode) {
      boolean gpu = mode.equals(NodeParts.OFF) == false;
      List<String> of = new ArrayList<>(List.of(gpu ? GPU : CPU, STOCK));
      if (gpu || placement.equals(NodeParts.OFF)) {
        of.add(INT8);
      }
      if (methods.isEmpty() == false) {
        of.retainAll(methods);
      }
      return of;
    }
  }

  /** Receives the findings while the trial runs. */
  public interface Findings {

    /** Whether an earlier run has measured a method in a cell. */
    boolean has(String method, String mode, int segments, int clients);

    /** Called with each measured point. */
    void measured(Point point) throws IOException;

    /** Called when a cell has been measured. */
    void done(int segments, int clients) throws IOException;

    /** Logs progress. */
    void say(String format, Object... values);
  }

  /**
   * A measured point.
   *
   * @param mode value of {@code vamana.gpu.placement} of the node, or {@link NodeParts#OFF}
   * @param perSecond requests a second of all clients together, by start of the nodes: the median
   *     of its turns
   * @param p50Micros median time of a request
   * @param clientMicros processor time of the clients' process for a request
   * @param answered queries by placement, by plan and by reason of the CPU, and launches of the
   *     GPU; empty for stock indices
   */
  public record Point(
      String method,
      String mode,
      int segments,
      int clients,
      int numCandidates,
      double recall,
      List<Double> perSecond,
      double p50Micros,
      double clientMicros,
      Map<String, Map<String, Long>> answered) {

    /** Requests a second, the geometric mean of all starts. */
    public double requestsPerSecond() {
      return GeometricMean.of(perSecond);
    }
  }

  /**
   * A running node.
   *
   * @param mode value of {@code vamana.gpu.placement}, or {@link NodeParts#OFF}
   */
  record Side(RunningNode node, String mode) implements Closeable {

    RestClients clients(int count) {
      return new RestClients(node.httpUri(), count);
    }

    @Override
    public void close() {
      node.close();
    }
  }

  /** A node that can be started. */
  private record Ready(NodeParts parts, NodeHome home, String mode) {

    Side start() throws IOException {
      return new Side(parts.start(home, mode, SETTINGS), mode);
    }
  }

  public CellTrial(Plan plan, Findings findings) {
    this.plan = plan;
    this.findings = findings;
  }

  /** Runs the trial. Cells that an earlier run has measured are left out. */
  public void run() throws IOException {
    if (plan.segments().stream().allMatch(segments -> left(segments).isEmpty())) {
      return;
    }
    NodeHome home = plan.parts().assemble();
    // a node that has built graphs searches the stock index at half the speed of a fresh one
    try (RunningNode node = plan.parts().start(home, plan.placement(), SETTINGS)) {
      new CellIndices(plan, findings).fill(node);
    }
    List<Ready> nodes = new ArrayList<>();
    for (String mode : plan.modes()) {
      // both are copies, so that their files are laid out alike
      NodeParts copy = plan.parts().copiedTo(mode);
      nodes.add(new Ready(copy, copy.assemble(), mode));
    }
    for (int segments : plan.segments()) {
      List<Integer> left = left(segments);
      if (left.isEmpty() == false) {
        CellTurns turns = new CellTurns(plan, findings, segments, left);
        for (int start = 1; start <= plan.starts(); start++) {
          List<Side> sides = new ArrayList<>();
          try {
            for (Ready node : start % 2 == 1 ? nodes : nodes.reversed()) {
              sides.add(node.start());
            }
            findings.say("%d segments, start %d of the nodes", segments, start);
            turns.take(sides);
          } finally {
            IOUtils.close(sides);
          }
          // a run that is cut off keeps the starts that it has measured
          turns.report();
        }
      }
    }
  }

  /** Numbers of clients that are still to be measured. */
  private List<Integer> left(int segments) {
    return plan.clients().stream()
        .filter(
            clients ->
                plan.modes().stream()
                    .anyMatch(
                        mode ->
                            plan.methodsOf(mode).stream()
                                .anyMatch(
                                    method ->
                                        findings.has(method, mode, segments, clients) == false)))
        .toList();
  }
}
