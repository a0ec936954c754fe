package dev.vamana.tools.gpu;

import dev.vamana.cuda.select.SelectMethod;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A published selection algorithm with its parameters, for comparison with those of {@link
 * SelectMethod}. Its text form is {@code family:size:queue}, without parameters that are 0, for
 * instance {@code warp:128:4}.
 *
 * @param family the algorithm
 * @param size pairs that a warp of WarpSelect and BlockSelect keeps; 0 for others
 * @param queue length of a thread's queue in WarpSelect and BlockSelect; 0 for others
 */
public record OtherMethod(Family family, int size, int queue) {

  /** Sizes of WarpSelect and BlockSelect for which kernels exist. */
  public static final List<Integer> SIZES = List.of(32, 128, 256, 512, 1_024);

  /** Lengths of queues for which kernels exist. */
  public static final List<Integer> QUEUES = List.of(2, 4, 8);

  private static final Pattern TEXT = Pattern.compile("([a-z-]+)(?::(\\d+):(\\d+))?");
  private static final int MAX_GLOBAL_K = 16_384;

  /** The algorithms; docs/internals/selection.md describes them. */
  public enum Family {
    BITS_GLOBAL,
    WARP,
    BLOCK,
    SAMPLE_TWO_STAGES,
    PARTIAL_BITONIC,
    MERGE_QUEUE;

    String text() {
      return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }
  }

  /** Checks the ranges. */
  public OtherMethod {
    boolean queued = family == Family.WARP || family == Family.BLOCK;
    if (queued
        ? SIZES.contains(size) == false || QUEUES.contains(queue) == false
        : size != 0 || queue != 0) {
      throw new IllegalArgumentException(
          "no kernel of " + family.text() + " has size " + size + " and queue " + queue);
    }
  }

  /** Makes a method of a family without parameters. */
  public static OtherMethod of(Family family) {
    return new OtherMethod(family, 0, 0);
  }

  /** Parses the text form of {@link #toString}. Returns null if no family has this name. */
  public static OtherMethod parse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (matcher.matches()) {
      for (Family family : Family.values()) {
        if (family.text().equals(matcher.group(1))) {
          return new OtherMethod(family, number(matcher.group(2)), number(matcher.group(3)));
        }
      }
    }
    return null;
  }

  private static int number(String digits) {
    return digits == null ? 0 : Integer.parseInt(digits);
  }

  /** Whether results are sorted without a further launch. */
  public boolean sorts() {
    return family != Family.SAMPLE_TWO_STAGES;
  }

  /** Whether this method can select {@code k} of rows of {@code n} keys. */
  public boolean accepts(int n, int k) {
    return switch (family) {
      case WARP, BLOCK -> k <= size;
      case BITS_GLOBAL -> k <= MAX_GLOBAL_K;
      case SAMPLE_TWO_STAGES -> n >= SelectMethod.SAMPLE && k < n;
      case PARTIAL_BITONIC, MERGE_QUEUE -> k <= SelectMethod.MAX_SHORT_K;
    };
  }

  @Override
  public String toString() {
    return family.text() + (size == 0 ? "" : ":" + size + ":" + queue);
  }
}
