package dev.vamana.elasticsearch.search;

import dev.vamana.search.WalkChange;
import java.io.IOException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.core.TimeValue;

/**
 * The part of a batched search that is the same for all shards.
 *
 * @param field name of the {@code dense_vector} field
 * @param vectors the query vectors
 * @param k most hits per query
 * @param numCandidates width of the search
 * @param filters the filters of the queries
 * @param similarity minimum similarity of a hit, or null
 * @param walk what the request changes in walks
 * @param exact whether queries are compared with all vectors
 * @param timeout time after which a shard returns what it has found, or null for none
 * @param allowPartial whether a timeout is not a failure
 * @param nowMillis the time that relative dates in filters refer to
 */
record ShardQuery(
    String field,
    QueryVectors vectors,
    int k,
    int numCandidates,
    QueryFilters filters,
    Float similarity,
    WalkChange walk,
    boolean exact,
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
        new WalkChange(in.readVInt(), in.readVInt(), in.readVInt()),
        in.readBoolean(),
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
    out.writeVInt(walk.beamWidth());
    out.writeVInt(walk.parents());
    out.writeVInt(walk.rerankDepth());
    out.writeBoolean(exact);
    out.writeOptionalTimeValue(timeout);
    out.writeBoolean(allowPartial);
    out.writeVLong(nowMillis);
  }

  /** Returns this query with other filters. */
  ShardQuery with(QueryFilters other) {
    return new ShardQuery(
        field,
        vectors,
        k,
        numCandidates,
        other,
        similarity,
        walk,
        exact,
        timeout,
        allowPartial,
        nowMillis);
  }

  /** Returns this query with the walks of an index where the request changes nothing. */
  ShardQuery with(WalkChange ofIndex) {
    return new ShardQuery(
        field,
        vectors,
        k,
        numCandidates,
        filters,
        similarity,
        walk.orElse(ofIndex),
        exact,
        timeout,
        allowPartial,
        nowMillis);
  }
}
