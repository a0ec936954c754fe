package dev.vamana.tools.gpu.node;

import java.io.IOException;
import java.util.Map;

/** Receives what a trial finds, as it finds it. */
public interface Findings {

  /** An index was filled and merged. */
  void built(String method, double seconds) throws IOException;

  /** An index was measured at one recall. */
  void measured(Point point) throws IOException;

  /** Where the time of a request goes in one index, and what follows for another. */
  void split(Split split) throws IOException;

  /**
   * A test of the report.
   *
   * @param id its name
   * @param status {@code passed}, {@code failed} or {@code skipped}
   * @param detail for the reader of the log
   */
  void check(String id, String status, String detail) throws IOException;

  /** Progress, for the log. */
  void say(String format, Object... values);

  /**
   * Clients that asked an index for as long as told.
   *
   * @param method whose index
   * @param placement where it was searched: placements of {@code _vamana/stats}, or "cpu"
   * @param clients asking at once
   * @param target recall that was wanted
   * @param numCandidates asked for
   * @param recall recall@10
   * @param micros time of each request
   * @param requestsPerSecond of all clients together
   * @param cpuMicros the node's processor time for a request, by group of threads
   * @param answered queries by placement, and by reason where the CPU answered; and launches and
   *     times of the GPU
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
   * Processor time of a request to a baseline, and the speed-up over it. What phases other than the
   * search cost is that of an index with a handful of vectors.
   *
   * @param method measured
   * @param baseline compared with
   * @param target recall that both reach at least; if one has more at its narrowest, that
   * @param searchMicros the baseline's search of vectors
   * @param otherMicros its other phases
   * @param httpMicros HTTP and coordination
   * @param restMicros garbage collection and all other threads
   * @param speedup requests per second over the baseline's
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

    /** Share of the search in a request's processor time. */
    double searchShare() {
      return searchMicros / (searchMicros + otherMicros + httpMicros + restMicros);
    }

    /** The speed-up that a search without any cost would give. */
    double allowed() {
      return 1 / (1 - searchShare());
    }

    /**
     * Whether the speed-up is what the project wants: three times where the search is at least 75 %
     * of a request, elsewhere 80 % of what is allowed.
     */
    public boolean reached() {
      return speedup >= (searchShare() >= 0.75 ? 3 : 0.8 * allowed());
    }

    /** As the report has it. */
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
