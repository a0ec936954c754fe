package dev.vamana.elasticsearch.yaml;

import java.util.Arrays;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.elasticsearch.Build;

/** Comparing versions such as {@code 9.5.3}, and ranges such as {@code 8.1.0 - 9.0.99}. */
final class ClusterVersion {
  private static final Pattern VERSION = Pattern.compile("(\\d+)\\.(\\d+)\\.(\\d+)(-.*)?");
  private static final Pattern RANGE = Pattern.compile("\\s*(\\S*)\\s+-\\s*(\\S*)\\s*");
  private static final String CURRENT = "current";

  private ClusterVersion() {}

  static int compare(String a, String b) {
    return Arrays.compare(numbers(a), numbers(b));
  }

  private static int[] numbers(String version) {
    Matcher matcher = VERSION.matcher(version);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("[" + version + "] is no version");
    }
    return new int[] {
      Integer.parseInt(matcher.group(1)),
      Integer.parseInt(matcher.group(2)),
      Integer.parseInt(matcher.group(3))
    };
  }

  /**
   * Fails if a range is malformed.
   *
   * @param ranges separated by commas; an end may be missing
   */
  static void check(String ranges) {
    isIn("0.0.0", ranges);
  }

  static boolean isIn(String version, String ranges) {
    if (ranges.equals(CURRENT)) {
      return compare(version, Build.current().version()) == 0;
    }
    boolean inside = false;
    for (String range : ranges.split(",")) {
      Matcher ends = RANGE.matcher(range);
      if (!ends.matches()) {
        throw new IllegalArgumentException("[" + range + "] is no range of versions");
      }
      boolean above = ends.group(1).isEmpty() || compare(version, ends.group(1)) >= 0;
      boolean below = ends.group(2).isEmpty() || compare(version, ends.group(2)) <= 0;
      inside |= above && below;
    }
    return inside;
  }
}
