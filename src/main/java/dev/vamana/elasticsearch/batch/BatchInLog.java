package dev.vamana.elasticsearch.batch;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.elasticsearch.TransportVersion;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.search.SearchExtBuilder;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * A batch as the source of a search shows it in the search slow log. It has no query vectors, since
 * there may be 10,000. It never leaves the node.
 */
final class BatchInLog extends SearchExtBuilder {
  private static final String NAME = "vamana_batch";

  /** Most filters in the log. */
  private static final int MOST_FILTERS = 3;

  private final ShardQuery query;

  private BatchInLog(ShardQuery query) {
    this.query = query;
  }

  /** A source that describes a batch. */
  static SearchSourceBuilder source(ShardQuery query) {
    return new SearchSourceBuilder().ext(List.of(new BatchInLog(query)));
  }

  @Override
  public String getWriteableName() {
    return NAME;
  }

  @Override
  public TransportVersion getMinimalSupportedVersion() {
    return TransportVersion.current();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    throw new UnsupportedOperationException("only for the log of this node");
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject(NAME);
    json.field("field", query.field());
    json.field("vectors", query.vectors().count());
    json.field("k", query.k());
    json.field("num_candidates", query.numCandidates());
    if (query.similarity() != null) {
      json.field("similarity", query.similarity());
    }
    int distinct = query.filters().distinct().size();
    json.field("distinct_filters", distinct);
    json.startArray("filters");
    for (QueryBuilder filter :
        query.filters().distinct().stream().filter(Objects::nonNull).limit(MOST_FILTERS).toList()) {
      filter.toXContent(json, params);
    }
    return json.endArray().endObject();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof BatchInLog that && query.equals(that.query);
  }

  @Override
  public int hashCode() {
    return query.hashCode();
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT, "%d vectors for field [%s]", query.vectors().count(), query.field());
  }
}
