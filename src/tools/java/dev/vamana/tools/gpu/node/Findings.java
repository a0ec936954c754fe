package dev.vamana.tools.gpu.node;

import java.io.IOException;
import java.util.Map;

/** Receives the findings of a {@link NodeTrial} while it runs. */
public interface Findings {

  /** Called when an index has been filled and merged. */
  void built(String method, double seconds) throws IOException;

  /** Called when an index has been measured at one recall. */
  void measured(Point point) throws IOException;

  /** Called with the breakdown of an index's request time, and the speed-up over it. */
  void split(Split split) throws IOException;

  /**
   * Called with a test of the report.
   *
   * @param id name of the test
   * @param status {@code passed}, {@code failed} or {@code skipped}
   * @param detail detail for the log
   */
  void check(String id, String status, String detail) throws IOException;

  /** Logs progress. */
  void say(String format, Object... values);

  /**
   * A measurement of clients that searched an index.
   *
   * @param method method of the index
   * @param placement placement of the index, as in {@code _vamana/nodes/stats}, or "cpu"
   * @param clients concurrent clients
   * @param target target recall
   * @param numCandidates the requests' {@code num_candidates}
   * @param recall recall@10
   * @param micros time of each request
   * @param requestsPerSecond requests per second of all clients together
   * @param cpuMicros the node's processor time per request, by group of threads
   * @param answered queries by placement and by reason of the CPU, and launches and times of the
   *     GPU
   */
  record Point(
      String method,
      String placement,
      int clients,
      double target,
      int numCandidates,
      double recall,
      double[] micros,
      double requestsPerSecond,
      Map<String, Double> cpuMicros,
      Map<String, Map<String, Long>> answered) {}

  /**
   * The processor time of a baseline's request by phase, and the speed-up over the baseline. The
   * cost of phases other than the search is measured with an index of a handful of vectors.
   *
   * @param method the measured method
   * @param baseline the method it is compared with
   * @param target recall that both reach at least; higher if one exceeds it at its narrowest width
   * @param searchMicros the baseline's vector search
   * @param otherMicros the baseline's other phases
   * @param httpMicros HTTP and coordination
   * @param restMicros garbage collection and all other threads
   * @param speedup requests per second divided by the baseline's
   */
  record Split(
      String method,
      String baseline,
      double target,
      double searchMicros,
      double otherMicros,
      double httpMicros,
      double restMicros,
      double speedup) {

    /** Returns the search's share of a request's processor time. */
    double searchShare() {
      return searchMicros / (searchMicros + otherMicros + httpMicros + restMicros);
    }

    /** Returns the speed-up that a search without any cost would give. */
    double allowed() {
      return 1 / (1 - searchShare());
    }

    /**
     * Whether the speed-up reaches the project's goal: three if the search is at least 75 % of a
     * request, otherwise 80 % of the possible speed-up.
     */
    public boolean reached() {
      return speedup >= (searchShare() >= 0.75 ? 3 : 0.8 * allowed());
    }

    /** Returns the row of the report. */
    public Map<String, Object> toMap() {
      return Map.ofEntries(
          Map.entry("method", method),
          Map.entry("variant", "over " + baseline),
          Map.entry("target", target),
          Map.entry("what", "split"),
          Map.entry("search_us", round(searchMicros)),
          Map.entry("other_phases_us", round(otherMicros)),
          Map.entry("http_us", round(httpMicros)),
          Map.entry("rest_us", round(restMicros)),
          Map.entry("search_share", Math.round(searchShare() * 1e4) / 1e4),
          Map.entry("allowed_speedup", Math.round(allowed() * 100) / 100.0),
          Map.entry("speedup", Math.round(speedup * 100) / 100.0),
          Map.entry("reached", reached()));
    }

    private static double round(double micros) {
      return Math.round(micros * 10) / 10.0;
    }
  }
}
