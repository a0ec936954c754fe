package dev.vamana.cuda.select;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A selection algorithm with its parameters. Its text form is {@code family:size:queue/partitions},
 * without parameters that are 0 and without a single partition, for instance {@code bits:2048/264},
 * {@code warp:128:4}, {@code sample/8}.
 *
 * @param family the algorithm
 * @param size pairs of the list of {@code bits}; pairs that a warp of WarpSelect and BlockSelect
 *     keeps; 0 for others
 * @param queue length of a lane's queue in WarpSelect and BlockSelect; 0 for others
 * @param partitions blocks that share a row, for {@code bits} and Sample Select; 1 for others
 */
public record SelectMethod(Family family, int size, int queue, int partitions) {

  private static final Pattern TEXT =
      Pattern.compile("([a-z0-9-]+?)(?::(\\d+))?(?::(\\d+))?(?:/(\\d+))?");

  /** Largest k of {@code bits} and of the methods for comparison. */
  public static final int MAX_SHORT_K = 2_048;

  /** Least number of keys in a row for Sample Select. */
  static final int SAMPLE = 4_096;

  private static final int MAX_GLOBAL_K = 16_384;
  private static final int MAX_PARTITIONS = 1_024;

  /** The algorithms; docs/internals/selection.md describes them. */
  public enum Family {
    BITS,
    BITS_GLOBAL,
    WARP,
    BLOCK,
    SAMPLE,
    SAMPLE_TWO_STAGES,
    RADIX,
    PARTIAL_BITONIC,
    MERGE_QUEUE;

    /** Returns the name in a method's text form. */
    String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** Checks the ranges. */
  public SelectMethod {
    boolean sized = family == Family.BITS || family == Family.WARP || family == Family.BLOCK;
    boolean queued = family == Family.WARP || family == Family.BLOCK;
    boolean shared =
        family == Family.BITS || family == Family.SAMPLE || family == Family.SAMPLE_TWO_STAGES;
    if (sized ? SelectKernels.sizes(family).contains(size) == false : size != 0) {
      throw new IllegalArgumentException(
          "size of "
              + family.text()
              + " must be one of "
              + SelectKernels.sizes(family)
              + ", got "
              + size);
    }
    if (queued ? SelectKernels.QUEUES.contains(queue) == false : queue != 0) {
      throw new IllegalArgumentException(
          "queue of "
              + family.text()
              + " must be one of "
              + SelectKernels.QUEUES
              + ", got "
              + queue);
    }
    if (partitions < 1 || partitions > (shared ? MAX_PARTITIONS : 1)) {
      throw new IllegalArgumentException(
          "partitions of "
              + family.text()
              + " must be 1 to "
              + (shared ? MAX_PARTITIONS : 1)
              + ", got "
              + partitions);
    }
  }

  /** Makes {@code bits} with a list of {@code size} pairs. */
  public static SelectMethod bits(int size, int partitions) {
    return new SelectMethod(Family.BITS, size, 0, partitions);
  }

  /** Makes a method of a family that has no parameters except partitions. */
  public static SelectMethod of(Family family, int partitions) {
    return new SelectMethod(family, 0, 0, partitions);
  }

  /** Parses the text form of {@link #toString}. */
  public static SelectMethod parse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (matcher.matches()) {
      for (Family family : Family.values()) {
        if (family.text().equals(matcher.group(1))) {
          return new SelectMethod(
              family,
              number(matcher.group(2), 0),
              number(matcher.group(3), 0),
              number(matcher.group(4), 1));
        }
      }
    }
    throw new IllegalArgumentException("no method of selection is written '" + text + "'");
  }

  private static int number(String digits, int otherwise) {
    return digits == null ? otherwise : Integer.parseInt(digits);
  }

  /** Whether results are sorted without a further launch. */
  public boolean sorts() {
    return switch (family) {
      case SAMPLE, SAMPLE_TWO_STAGES, RADIX -> false;
      default -> true;
    };
  }

  /** Whether this method can select {@code k} of rows of {@code n} keys. */
  public boolean accepts(int n, int k) {
    return switch (family) {
      case BITS -> k <= Math.min(size / 2, MAX_SHORT_K);
      case WARP, BLOCK -> k <= size;
      case BITS_GLOBAL -> k <= MAX_GLOBAL_K;
      case SAMPLE, SAMPLE_TWO_STAGES -> n >= SAMPLE && k < n;
      case RADIX -> true;
      case PARTIAL_BITONIC, MERGE_QUEUE -> k <= MAX_SHORT_K;
    };
  }

  @Override
  public String toString() {
    return family.text()
        + (size == 0 ? "" : ":" + size)
        + (queue == 0 ? "" : ":" + queue)
        + (partitions == 1 ? "" : "/" + partitions);
  }
}
