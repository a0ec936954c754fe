package dev.vamana.elasticsearch.monitor.openmetrics;

import java.math.BigDecimal;
import java.util.Collection;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;

/**
 * Collects samples and writes them as OpenMetrics text. Samples may come in any order. The samples
 * of a family are written together, families in the order of their first samples. Not thread-safe.
 */
public final class Exposition {

  private static final String LE = "le";

  /** Numbers below and above have an exponent, as Go writes floating-point numbers. */
  private static final int LEAST_EXPONENT = -4;

  private static final int DIGITS_WITHOUT_EXPONENT = 6;

  private final Map<String, Samples> families = new LinkedHashMap<>();

  private static final class Samples {
    private final Family family;
    private final Set<String> seen = new HashSet<>();
    private final StringBuilder text = new StringBuilder();

    Samples(Family family) {
      this.family = family;
      family.describe(text);
    }

    void add(String name, Labels labels, String value) {
      String series = name + labels.text();
      if (seen.add(series) == false) {
        throw new IllegalArgumentException("sample [" + series + "] is there twice");
      }
      text.append(series).append(' ').append(value).append('\n');
    }
  }

  private Samples samples(Family family, Family.Type... types) {
    if (Set.of(types).contains(family.type()) == false) {
      throw new IllegalArgumentException(family.name() + " is a " + family.type());
    }
    Samples samples = families.computeIfAbsent(family.name(), name -> new Samples(family));
    if (samples.family.equals(family) == false) {
      throw new IllegalArgumentException("two families have the name [" + family.name() + "]");
    }
    return samples;
  }

  /** Adds a sample of a counter or gauge. */
  public void add(Family family, Labels labels, BigDecimal value) {
    samples(family, Family.Type.COUNTER, Family.Type.GAUGE)
        .add(family.sampleName(), labels, number(value));
  }

  /** Adds a sample of a counter or gauge. */
  public void add(Family family, Labels labels, long value) {
    add(family, labels, BigDecimal.valueOf(value));
  }

  /** Adds texts: a sample whose value is always 1. */
  public void addInfo(Family family, Labels labels) {
    samples(family, Family.Type.INFO).add(family.sampleName(), labels, "1");
  }

  /**
   * Adds a state: a sample for each possible one.
   *
   * @param states all possible states
   * @param now the one that holds
   */
  public void addState(Family family, Labels labels, Collection<String> states, String now) {
    Samples samples = samples(family, Family.Type.STATESET);
    for (String state : states) {
      samples.add(
          family.sampleName(), labels.and(family.name(), state), state.equals(now) ? "1" : "0");
    }
  }

  /**
   * Adds a histogram.
   *
   * @param counts numbers of values by the largest value of their bucket, each value in one bucket
   * @param beyond number of values larger than all buckets take
   * @param sum sum of all values, or null if it is unknown; OpenMetrics then has no count either
   */
  public void addHistogram(
      Family family,
      Labels labels,
      SortedMap<BigDecimal, Long> counts,
      long beyond,
      BigDecimal sum) {
    Samples samples = samples(family, Family.Type.HISTOGRAM);
    String bucket = family.name() + "_bucket";
    long count = 0;
    for (Map.Entry<BigDecimal, Long> entry : counts.entrySet()) {
      count += entry.getValue();
      samples.add(bucket, labels.and(LE, canonical(entry.getKey())), Long.toString(count));
    }
    count += beyond;
    samples.add(bucket, labels.and(LE, "+Inf"), Long.toString(count));
    if (sum != null) {
      samples.add(family.name() + "_count", labels, Long.toString(count));
      samples.add(family.name() + "_sum", labels, number(sum));
    }
  }

  private static String number(BigDecimal value) {
    return value.stripTrailingZeros().toPlainString();
  }

  /** A bound of a bucket as OpenMetrics wants it: a number has one notation. */
  private static String canonical(BigDecimal bound) {
    BigDecimal shortest = bound.stripTrailingZeros();
    int exponent = shortest.precision() - shortest.scale() - 1;
    if (shortest.signum() == 0
        || (exponent >= LEAST_EXPONENT && exponent < DIGITS_WITHOUT_EXPONENT)) {
      String plain = shortest.toPlainString();
      return plain.contains(".") ? plain : plain + ".0";
    }
    String digits = new BigDecimal(shortest.unscaledValue(), shortest.precision() - 1).toString();
    String size = Integer.toString(Math.abs(exponent));
    return digits + (exponent < 0 ? "e-" : "e+") + (size.length() < 2 ? "0" + size : size);
  }

  /** The text, with its last line. */
  public String text() {
    StringBuilder text = new StringBuilder();
    families.values().forEach(samples -> text.append(samples.text));
    return text.append("# EOF\n").toString();
  }
}
