package dev.vamana.tools.demo;

import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.util.List;

/** One row of the comparison: an index, whether the GPU may answer, and who has answered. */
final class Row {

  /** The plan with which the GPU answers nothing. */
  private static final String CPU = "cpu";

  private static final String PLAN = "vamana.gpu.plan";

  private final NodeClient client;
  private final KnnIndex index;
  private final String label;
  private final String plan;
  private final boolean ours;
  private Answered answered = Answered.NOBODY;

  private Row(NodeClient client, KnnIndex index, String label, String plan, boolean ours) {
    this.client = client;
    this.index = index;
    this.label = label;
    this.plan = plan;
    this.ours = ours;
  }

  /**
   * Our index and the stock one; with a usable GPU ours twice, with the GPU and without.
   *
   * @param gpu what the node says of its GPU
   * @param plan value of {@code vamana.gpu.plan} for the row with the GPU
   */
  static List<Row> of(
      NodeClient client, KnnIndex ours, KnnIndex stock, GpuStatus gpu, String plan) {
    Row last = new Row(client, stock, stock.label(), null, false);
    return gpu.usable()
        ? List.of(
            new Row(client, ours, ours.name() + " (GPU on)", plan, true),
            new Row(client, ours, ours.name() + " (GPU off)", CPU, true),
            last)
        : List.of(new Row(client, ours, ours.label(), null, true), last);
  }

  /** Leaves the choice between GPU and CPU to the node again. */
  static void reset(NodeClient client) throws IOException {
    client.set(PLAN, null);
  }

  /** Requests to the index. */
  interface Work<T> {
    /** Sends the requests, and returns what was measured. */
    T run() throws IOException;
  }

  /** Sends requests with the node's settings of this row, and counts who answers. */
  <T> T ask(Work<T> work) throws IOException {
    if (plan != null) {
      client.set(PLAN, "\"" + plan + "\"");
    }
    if (ours == false) {
      return work.run();
    }
    Answered before = GpuStatus.of(client).answered();
    T result = work.run();
    answered = answered.and(GpuStatus.of(client).answered().since(before));
    return result;
  }

  /** Forgets who has answered. */
  void forget() {
    answered = Answered.NOBODY;
  }

  KnnIndex index() {
    return index;
  }

  /** For tables and plots. */
  String label() {
    return label;
  }

  /** Who has answered, for a table. */
  String answeredBy() {
    return answered.cell(plan != null && plan.equals(CPU) == false);
  }
}
