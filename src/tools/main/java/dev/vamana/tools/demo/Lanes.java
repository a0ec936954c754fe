package dev.vamana.tools.demo;

import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/** The rows of the comparison, and who has answered each of them so far. */
final class Lanes {

  private static final String PLAN = "vamana.gpu.plan";
  private static final long UPLOAD_NANOS = 60_000_000_000L;

  private final NodeClient client;
  private final List<Lane> lanes;
  private final Answered[] answered;
  private String plan;

  private Lanes(NodeClient client, List<Lane> lanes) {
    this.client = client;
    this.lanes = List.copyOf(lanes);
    this.answered = new Answered[lanes.size()];
    Arrays.fill(answered, Answered.NOBODY);
  }

  /**
   * Our index and the stock one; with a usable GPU ours twice, with the GPU and without.
   *
   * @param gpu what the node says of its GPU
   * @param plan value of {@code vamana.gpu.plan} for the row with the GPU
   */
  static Lanes of(NodeClient client, KnnIndex ours, KnnIndex stock, GpuStatus gpu, String plan) {
    if (gpu.usable() == false) {
      return new Lanes(
          client,
          List.of(
              new Lane(ours, ours.label(), null, true),
              new Lane(stock, stock.label(), null, false)));
    }
    return new Lanes(
        client,
        List.of(
            new Lane(ours, ours.name() + " (GPU on)", plan, true),
            new Lane(ours, ours.name() + " (GPU off)", Lane.CPU, true),
            new Lane(stock, stock.label(), Lane.CPU, false)));
  }

  List<Lane> all() {
    return lanes;
  }

  Lane get(int i) {
    return lanes.get(i);
  }

  int size() {
    return lanes.size();
  }

  /** Who has answered a row, for a table. */
  String answeredBy(int i) {
    return answered[i].cell(lanes.get(i).gpu());
  }

  /** Rows that can be asked in turn without changing the node's settings. */
  List<int[]> groups() {
    List<int[]> groups = new ArrayList<>();
    lanes.stream()
        .map(Lane::plan)
        .distinct()
        .forEach(
            same ->
                groups.add(
                    IntStream.range(0, lanes.size())
                        .filter(i -> Objects.equals(lanes.get(i).plan(), same))
                        .toArray()));
    return groups;
  }

  /** Work that asks some rows. */
  interface Work {
    void run() throws IOException;
  }

  /**
   * Asks rows of one group with the settings that they need, and counts who answers.
   *
   * @param rows of one group; at most one of them is ours
   */
  void ask(int[] rows, Work work) throws IOException {
    use(lanes.get(rows[0]).plan());
    Answered before = GpuStatus.of(client).answered();
    work.run();
    Answered now = GpuStatus.of(client).answered().since(before);
    for (int row : rows) {
      if (lanes.get(row).ours()) {
        answered[row] = answered[row].and(now);
      }
    }
  }

  private void use(String wanted) throws IOException {
    if (Objects.equals(wanted, plan) == false) {
      client.set(PLAN, "\"" + Objects.requireNonNull(wanted) + "\"");
      plan = wanted;
    }
  }

  /** Leaves the choice between GPU and CPU to the node again. */
  void reset() throws IOException {
    if (plan != null) {
      client.set(PLAN, null);
      plan = null;
    }
  }

  /** Forgets who answered while the indices were warmed. */
  void forget() {
    Arrays.fill(answered, Answered.NOBODY);
  }

  /** Waits until no segment is on its way to the GPU, for a minute at most. */
  void awaitUploads() throws IOException {
    long deadline = System.nanoTime() + UPLOAD_NANOS;
    while (GpuStatus.of(client).waiting() > 0 && System.nanoTime() < deadline) {
      lanes.get(0).index().segments();
    }
  }
}
