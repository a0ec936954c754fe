package dev.vamana.elasticsearch.monitor.stats;

import java.io.IOException;
import java.util.Objects;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * Which executor answered queries, and in which batches. An item is one query in one segment.
 *
 * @param items requested items, and where they were answered
 * @param launches launches of kernels
 * @param batchSizes launches by their number of items
 * @param waits parts of launches by the microseconds they waited
 */
public record ExecutorStats(
    Counters items, Counters launches, Histogram batchSizes, Histogram waits)
    implements Writeable, ToXContentObject {

  public ExecutorStats {
    Objects.requireNonNull(items, "items");
    Objects.requireNonNull(launches, "launches");
    Objects.requireNonNull(batchSizes, "batchSizes");
    Objects.requireNonNull(waits, "waits");
  }

  /** Reads what {@link #writeTo} wrote. */
  public ExecutorStats(StreamInput in) throws IOException {
    this(new Counters(in), new Counters(in), new Histogram(in), new Histogram(in));
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    items.writeTo(out);
    launches.writeTo(out);
    batchSizes.writeTo(out);
    waits.writeTo(out);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject();
    json.field("items", items);
    if (launches.values().isEmpty() == false) {
      json.field("launches", launches);
      json.field("batch_size_histogram", batchSizes);
      json.field("wait_in_micros_histogram", waits);
    }
    return json.endObject();
  }
}
