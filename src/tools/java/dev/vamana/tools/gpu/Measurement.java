package dev.vamana.tools.gpu;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * One row of the report's benchmarks.
 *
 * @param subject the set
 * @param method name of the method
 * @param placement placement of the segment; "cpu" for methods without a GPU
 * @param batch queries of a call
 * @param callers threads that called concurrently
 * @param beam beam width; 0 for exhaustive search
 * @param recall mean recall@10 over all queries
 * @param microseconds time of each call
 * @param extra further columns, such as parents or re-rank depth
 */
record Measurement(
    Subject subject,
    String method,
    String placement,
    int batch,
    int callers,
    int beam,
    double recall,
    double[] microseconds,
    Map<String, Object> extra) {

  /** The set that was searched. */
  record Subject(String set, String sha256, int n, int dims) {}

  double qps() {
    return Samples.qps(batch, callers, microseconds);
  }

  double p50Us() {
    return Samples.median(microseconds);
  }

  /** Returns the row for JSON. Summaries are computed from the samples as written. */
  Map<String, Object> toMap() {
    double[] samples = Samples.round(microseconds, 1);
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("set", subject.set());
    row.put("set_sha256", subject.sha256());
    row.put("n", subject.n());
    row.put("dims", subject.dims());
    row.put("method", method);
    row.put("placement", placement);
    row.put("batch", batch);
    row.put("callers", callers);
    row.put("beam", beam);
    row.putAll(extra);
    row.put("recall_at_10", Samples.round(recall, 5));
    row.put("qps", Samples.round(Samples.qps(batch, callers, samples), 1));
    row.put("p50_us", Samples.round(Samples.median(samples), 2));
    List<Double> list = new ArrayList<>();
    for (double sample : samples) {
      list.add(sample);
    }
    row.put("samples", list);
    return row;
  }

  @Override
  public String toString() {
    return String.format(
        java.util.Locale.ROOT,
        "%-18s %-14s %-14s batch %,6d x %d beam %4d%s recall %.4f  %,12.0f QPS  p50 %,10.1f us",
        subject.set(),
        method,
        placement,
        batch,
        callers,
        beam,
        extra.isEmpty() ? "" : " " + extra,
        recall,
        qps(),
        p50Us());
  }
}
