package dev.vamana.elasticsearch.search;

import java.io.IOException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * Costs of a batch on one shard.
 *
 * @param searchedBy name of the executor, or {@link #THREADS}
 * @param segments segments of the shard
 * @param hits hits of all queries together
 * @param waitNanos time until a thread began to search; the reader was opened in it
 * @param searchNanos time of the search
 * @param fetchNanos time to read the hits' documents
 */
record ShardProfile(
    String searchedBy, int segments, int hits, long waitNanos, long searchNanos, long fetchNanos)
    implements Writeable {

  /** The threads of the search pool, each of which searches one query at a time. */
  static final String THREADS = "search threads";

  static ShardProfile readFrom(StreamInput in) throws IOException {
    return new ShardProfile(
        in.readString(),
        in.readVInt(),
        in.readVInt(),
        in.readVLong(),
        in.readVLong(),
        in.readVLong());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeString(searchedBy);
    out.writeVInt(segments);
    out.writeVInt(hits);
    out.writeVLong(waitNanos);
    out.writeVLong(searchNanos);
    out.writeVLong(fetchNanos);
  }

  /** Returns this profile with the time to read documents. */
  ShardProfile withFetch(long nanos) {
    return new ShardProfile(searchedBy, segments, hits, waitNanos, searchNanos, nanos);
  }

  /**
   * Writes the profile as an object.
   *
   * @param id node, index and number of the shard
   */
  void write(XContentBuilder json, String id) throws IOException {
    json.startObject();
    json.field("id", id);
    json.field("searched_by", searchedBy);
    json.field("segments", segments);
    json.field("hits", hits);
    json.field("wait_nanos", waitNanos);
    json.field("search_nanos", searchNanos);
    json.field("fetch_nanos", fetchNanos);
    json.endObject();
  }
}
