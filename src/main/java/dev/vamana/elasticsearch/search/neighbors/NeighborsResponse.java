package dev.vamana.elasticsearch.search.neighbors;

import java.io.IOException;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

/** What a run wrote. */
public final class NeighborsResponse extends ActionResponse implements ToXContentObject {

  private final TimeValue took;
  private final NeighborsCounts counts;
  private final String cancelled;

  /**
   * Makes a response.
   *
   * @param cancelled why the run was cancelled, or null if it came to its end
   */
  NeighborsResponse(TimeValue took, NeighborsCounts counts, String cancelled) {
    this.took = took;
    this.counts = counts;
    this.cancelled = cancelled;
  }

  /** Reads what {@link #writeTo} wrote. */
  public NeighborsResponse(StreamInput in) throws IOException {
    took = in.readTimeValue();
    counts = new NeighborsCounts(in);
    cancelled = in.readOptionalString();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeTimeValue(took);
    counts.writeTo(out);
    out.writeOptionalString(cancelled);
  }

  /** The documents that were written. */
  public NeighborsCounts counts() {
    return counts;
  }

  /** Why the run was cancelled, or null if it came to its end. */
  public String cancelled() {
    return cancelled;
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject().field("took", took.millis());
    if (cancelled != null) {
      json.field("canceled", cancelled);
    }
    counts.members(json);
    return json.endObject();
  }
}
