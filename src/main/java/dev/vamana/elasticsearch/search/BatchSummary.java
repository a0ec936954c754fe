package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.xcontent.ToXContentFragment;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * What the search slow log shows of a batch. It has no query vectors, since there may be 10,000.
 *
 * @param field name of the vector field
 * @param vectors number of query vectors
 * @param k most hits per vector
 * @param numCandidates width of the search
 * @param similarity minimum similarity of a hit, or null
 * @param distinctFilters number of different filters; none counts as one
 * @param filters some of the filters
 */
record BatchSummary(
    String field,
    int vectors,
    int k,
    int numCandidates,
    Float similarity,
    int distinctFilters,
    List<QueryBuilder> filters)
    implements Writeable, ToXContentFragment {

  /** Most filters in a line of the log. */
  private static final int MOST_FILTERS = 3;

  /** Returns the summary of a query. */
  static BatchSummary of(ShardQuery query) {
    List<QueryBuilder> distinct = query.filters().distinct();
    return new BatchSummary(
        query.field(),
        query.vectors().count(),
        query.k(),
        query.numCandidates(),
        query.similarity(),
        distinct.size(),
        distinct.stream().filter(Objects::nonNull).limit(MOST_FILTERS).toList());
  }

  static BatchSummary readFrom(StreamInput in) throws IOException {
    return new BatchSummary(
        in.readString(),
        in.readVInt(),
        in.readVInt(),
        in.readVInt(),
        in.readOptionalFloat(),
        in.readVInt(),
        in.readNamedWriteableCollectionAsList(QueryBuilder.class));
  }

  /** Returns this summary without filters, which may be long. */
  BatchSummary withoutFilters() {
    return new BatchSummary(
        field, vectors, k, numCandidates, similarity, distinctFilters, List.of());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeString(field);
    out.writeVInt(vectors);
    out.writeVInt(k);
    out.writeVInt(numCandidates);
    out.writeOptionalFloat(similarity);
    out.writeVInt(distinctFilters);
    out.writeNamedWriteableCollection(filters);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.field("field", field);
    json.field("vectors", vectors);
    json.field("k", k);
    json.field("num_candidates", numCandidates);
    if (similarity != null) {
      json.field("similarity", similarity);
    }
    json.field("distinct_filters", distinctFilters);
    if (filters.isEmpty() == false) {
      json.xContentList("filters", filters, params);
    }
    return json;
  }
}
