package dev.vamana.cuda.select;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A selection algorithm with its parameters. Its text form is {@code family:size/partitions},
 * without a size that is 0 and without a single partition, for instance {@code bits:2048/264},
 * {@code sample/8}. {@link SelectTable} chooses among them.
 *
 * @param family the algorithm
 * @param size pairs of the list of {@code bits}; 0 for others
 * @param partitions blocks that share a row; 1 for {@code radix}
 */
public record SelectMethod(Family family, int size, int partitions) {

  private static final Pattern TEXT = Pattern.compile("([a-z]+)(?::(\\d+))?(?:/(\\d+))?");

  /** Largest k of {@code bits}. */
  public static final int MAX_SHORT_K = 2_048;

  /** Least number of keys in a row for Sample Select. */
  public static final int SAMPLE = 4_096;

  private static final int MAX_PARTITIONS = 1_024;

  /** The algorithms; docs/internals/selection.md describes them. */
  public enum Family {
    BITS,
    SAMPLE,
    RADIX;

    /** Returns the name in a method's text form. */
    String text() {
      return name().toLowerCase(Locale.ROOT);
    }
  }

  /** Checks the ranges. */
  public SelectMethod {
    boolean shared = family != Family.RADIX;
    if (family == Family.BITS ? SelectKernels.LISTS.contains(size) == false : size != 0) {
      throw new IllegalArgumentException(
          "size of "
              + family.text()
              + " must be "
              + (family == Family.BITS ? "one of " + SelectKernels.LISTS : "0")
              + ", got "
              + size);
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
    return new SelectMethod(Family.BITS, size, partitions);
  }

  /** Makes a method of a family that has no parameters except partitions. */
  public static SelectMethod of(Family family, int partitions) {
    return new SelectMethod(family, 0, partitions);
  }

  /** Parses the text form of {@link #toString}. */
  public static SelectMethod parse(String text) {
    Matcher matcher = TEXT.matcher(text);
    if (matcher.matches()) {
      for (Family family : Family.values()) {
        if (family.text().equals(matcher.group(1))) {
          return new SelectMethod(family, number(matcher.group(2), 0), number(matcher.group(3), 1));
        }
      }
    }
    throw new IllegalArgumentException("no method of selection is written '" + text + "'");
  }

  private static int number(String digits, int otherwise) {
    return digits == null ? otherwise : Integer.parseInt(digits);
  }

  /**
   * Whether the method leaves sorted results. A further launch sorts the results of other methods.
   */
  public boolean sorts() {
    return family == Family.BITS;
  }

  /** Whether this method can select {@code k} of rows of {@code n} keys. */
  public boolean accepts(int n, int k) {
    return switch (family) {
      case BITS -> k <= Math.min(size / 2, MAX_SHORT_K);
      case SAMPLE -> n >= SAMPLE && k < n;
      case RADIX -> true;
    };
  }

  @Override
  public String toString() {
    return family.text()
        + (size == 0 ? "" : ":" + size)
        + (partitions == 1 ? "" : "/" + partitions);
  }
}
