package dev.vamana.elasticsearch.search.neighbors;

import java.io.IOException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * How far a run has come.
 *
 * @param total documents whose neighbours are to be found, as counted at the beginning; -1 until
 *     then
 * @param created documents that were written for the first time
 * @param updated documents that replaced others
 * @param skipped documents that were left out because a former run wrote them
 * @param batches batches that were written or left out
 */
public record NeighborsCounts(long total, long created, long updated, long skipped, long batches)
    implements Task.Status {

  /** Name on the wire. */
  public static final String NAME = "vamana_neighbors";

  /** A run that begins. */
  static final NeighborsCounts NONE = new NeighborsCounts(-1, 0, 0, 0, 0);

  /** Reads what {@link #writeTo} wrote. */
  public NeighborsCounts(StreamInput in) throws IOException {
    this(in.readZLong(), in.readVLong(), in.readVLong(), in.readVLong(), in.readVLong());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeZLong(total);
    out.writeVLong(created);
    out.writeVLong(updated);
    out.writeVLong(skipped);
    out.writeVLong(batches);
  }

  NeighborsCounts withTotal(long documents) {
    return new NeighborsCounts(documents, created, updated, skipped, batches);
  }

  NeighborsCounts withBatch(long madeNew, long replaced, long leftOut) {
    return new NeighborsCounts(
        total, created + madeNew, updated + replaced, skipped + leftOut, batches + 1);
  }

  @Override
  public String getWriteableName() {
    return NAME;
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject();
    members(json);
    return json.endObject();
  }

  /** Writes the counts into an object. */
  void members(XContentBuilder json) throws IOException {
    if (total >= 0) {
      json.field("total", total);
    }
    json.field("created", created)
        .field("updated", updated)
        .field("skipped", skipped)
        .field("batches", batches);
  }
}
