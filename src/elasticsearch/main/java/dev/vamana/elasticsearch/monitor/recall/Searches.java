package dev.vamana.elasticsearch.monitor.recall;

import java.io.IOException;
import java.util.Comparator;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * Searches of a field that want about as many hits. Their recall is one figure.
 *
 * @param field name of the field
 * @param k most hits of such a search: a power of ten
 */
public record Searches(String field, int k) implements Writeable, Comparable<Searches> {
  private static final Comparator<Searches> ORDER =
      Comparator.comparing(Searches::field).thenComparingInt(Searches::k);

  /** Reads what {@link #writeTo} wrote. */
  public Searches(StreamInput in) throws IOException {
    this(in.readString(), in.readVInt());
  }

  /** The searches that one with k hits belongs to: more than a tenth as many hits, at most k. */
  static Searches of(String field, int k) {
    int most = 1;
    while (most < k) {
      most *= 10;
    }
    return new Searches(field, most);
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeString(field);
    out.writeVInt(k);
  }

  @Override
  public int compareTo(Searches other) {
    return ORDER.compare(this, other);
  }
}
