package dev.vamana.tools.demo;

import java.util.Collection;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Who answered queries of an opted-in index: how many of them (counted once for each segment) the
 * GPU, by the segment's placement, and how many the CPU, by reason.
 */
record Answered(Map<String, Long> byPlacement, Map<String, Long> onCpu) {

  static final Answered NOBODY = new Answered(Map.of(), Map.of());

  /** Answers since an earlier state. */
  Answered since(Answered before) {
    return new Answered(sum(byPlacement, before.byPlacement, -1), sum(onCpu, before.onCpu, -1));
  }

  /** Both together. */
  Answered and(Answered more) {
    return new Answered(sum(byPlacement, more.byPlacement, 1), sum(onCpu, more.onCpu, 1));
  }

  private static Map<String, Long> sum(Map<String, Long> a, Map<String, Long> b, int sign) {
    Map<String, Long> sum = new TreeMap<>(a);
    b.forEach((name, value) -> sum.merge(name, sign * value, Long::sum));
    sum.values().removeIf(value -> value == 0);
    return sum;
  }

  private static long total(Collection<Long> counts) {
    return counts.stream().mapToLong(Long::longValue).sum();
  }

  /** The part of the queries that the GPU answered, 0 to 1; 0 without queries. */
  double gpuShare() {
    long gpu = total(byPlacement.values());
    long all = gpu + total(onCpu.values());
    return all == 0 ? 0 : (double) gpu / all;
  }

  /**
   * For a table: {@code CPU}, or the GPU's share and the placement of the segments.
   *
   * @param gpu whether the GPU might have answered, so that it matters why the CPU did
   */
  String cell(boolean gpu) {
    double share = gpuShare();
    if (share == 0) {
      return gpu && onCpu.isEmpty() == false ? "CPU (" + byCount(onCpu) + ")" : "CPU";
    }
    String device = "GPU (" + byCount(byPlacement) + ")";
    return share == 1
        ? device + " 100%"
        : String.format(
            Locale.ROOT,
            "%s %.1f%%, CPU (%s) %.1f%%",
            device,
            100 * share,
            byCount(onCpu),
            100 * (1 - share));
  }

  /** Names, the one with the most queries first. */
  private static String byCount(Map<String, Long> counts) {
    return counts.entrySet().stream()
        .sorted(Map.Entry.<String, Long>comparingByValue().reversed())
        .map(Map.Entry::getKey)
        .collect(Collectors.joining(", "));
  }
}
