package dev.vamana.elasticsearch.batch;

import java.io.IOException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.core.TimeValue;

/**
 * What every shard of a batched search is asked for.
 *
 * @param field name of the {@code dense_vector} field
 * @param k most hits of a query
 * @param numCandidates width of the search
 * @param similarity least similarity of a hit, or null
 * @param timeout after which time what has been found is returned, or null for never
 * @param allowPartial whether running out of time is no failure
 * @param nowMillis the time that relative dates in filters refer to
 */
record ShardQuery(
    String field,
    QueryVectors vectors,
    int k,
    int numCandidates,
    QueryFilters filters,
    Float similarity,
    TimeValue timeout,
    boolean allowPartial,
    long nowMillis)
    implements Writeable {

  static ShardQuery readFrom(StreamInput in) throws IOException {
    return new ShardQuery(
        in.readString(),
        QueryVectors.readFrom(in),
        in.readVInt(),
        in.readVInt(),
        QueryFilters.readFrom(in),
        in.readOptionalFloat(),
        in.readOptionalTimeValue(),
        in.readBoolean(),
        in.readVLong());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeString(field);
    vectors.writeTo(out);
    out.writeVInt(k);
    out.writeVInt(numCandidates);
    filters.writeTo(out);
    out.writeOptionalFloat(similarity);
    out.writeOptionalTimeValue(timeout);
    out.writeBoolean(allowPartial);
    out.writeVLong(nowMillis);
  }

  /** The same query with other filters. */
  ShardQuery with(QueryFilters other) {
    return new ShardQuery(
        field, vectors, k, numCandidates, other, similarity, timeout, allowPartial, nowMillis);
  }
}
