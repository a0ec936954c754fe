package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.cuda.batch.BatchCounters;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.xcontent.ToXContentFragment;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * Counts of values by size.
 *
 * @param buckets buckets by ascending size, without the empty ones
 */
public record Histogram(List<Bucket> buckets) implements Writeable, ToXContentFragment {

  private static final String UP_TO = "up_to_";

  /**
   * The values of one bucket.
   *
   * @param upTo largest value in this bucket, {@link Long#MAX_VALUE} if there is no limit; smaller
   *     values that fit in the bucket before are counted there
   * @param count number of values
   */
  public record Bucket(long upTo, long count) implements Writeable {
    Bucket(StreamInput in) throws IOException {
      this(in.readVLong(), in.readVLong());
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeVLong(upTo);
      out.writeVLong(count);
    }
  }

  /** Copies the buckets. */
  public Histogram {
    buckets = List.copyOf(buckets);
  }

  /** Reads what {@link #writeTo} wrote. */
  public Histogram(StreamInput in) throws IOException {
    this(in.readCollectionAsList(Bucket::new));
  }

  /**
   * Makes a histogram from counters of an executor.
   *
   * @param counts counts by {@code up_to_} and the bucket's largest value; any other name is the
   *     bucket without a limit
   */
  public static Histogram of(Map<String, Long> counts) {
    List<Bucket> buckets = new ArrayList<>();
    counts.forEach(
        (name, count) ->
            buckets.add(
                new Bucket(
                    name.startsWith(UP_TO)
                        ? Long.parseLong(name.substring(UP_TO.length()))
                        : Long.MAX_VALUE,
                    count)));
    buckets.sort(Comparator.comparingLong(Bucket::upTo));
    return new Histogram(buckets);
  }

  /** All buckets of the executor; the missing ones are empty. */
  List<Bucket> withEmptyBuckets() {
    SortedMap<Long, Long> counts = new TreeMap<>();
    BatchCounters.bounds().forEach(upTo -> counts.put(upTo, 0L));
    buckets.forEach(bucket -> counts.merge(bucket.upTo, bucket.count, Long::sum));
    return counts.entrySet().stream()
        .map(bucket -> new Bucket(bucket.getKey(), bucket.getValue()))
        .toList();
  }

  /** Number of values. */
  public long count() {
    return buckets.stream().mapToLong(Bucket::count).sum();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeCollection(buckets);
  }

  /** Writes an array of buckets. */
  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startArray();
    for (Bucket bucket : buckets) {
      json.startObject();
      if (bucket.upTo < Long.MAX_VALUE) {
        json.field("up_to", bucket.upTo);
      }
      json.field("count", bucket.count);
      json.endObject();
    }
    return json.endArray();
  }
}
