package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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

  /** Most filters in a line of the log. */
  private static final int MOST_FILTERS = 3;

  private final Map<String, Object> numbers;
  private final List<QueryBuilder> filters;

  private BatchInLog(Map<String, Object> numbers, List<QueryBuilder> filters) {
    this.numbers = numbers;
    this.filters = filters;
  }

  /** A source that describes a batch with some of its filters. */
  static SearchSourceBuilder source(ShardQuery query) {
    List<QueryBuilder> filters =
        query.filters().distinct().stream().filter(Objects::nonNull).limit(MOST_FILTERS).toList();
    return new SearchSourceBuilder().ext(List.of(new BatchInLog(numbers(query), filters)));
  }

  /** A source that describes a batch by its {@link #numbers}. */
  static SearchSourceBuilder source(Map<String, Object> numbers) {
    return new SearchSourceBuilder().ext(List.of(new BatchInLog(numbers, List.of())));
  }

  /** Describes a batch without its filters, which may be long. */
  static Map<String, Object> numbers(ShardQuery query) {
    Map<String, Object> numbers = new LinkedHashMap<>();
    numbers.put("field", query.field());
    numbers.put("vectors", query.vectors().count());
    numbers.put("k", query.k());
    numbers.put("num_candidates", query.numCandidates());
    if (query.similarity() != null) {
      numbers.put("similarity", query.similarity());
    }
    numbers.put("distinct_filters", query.filters().distinct().size());
    return numbers;
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
    json.startObject(NAME).mapContents(numbers);
    if (filters.isEmpty() == false) {
      json.xContentList("filters", filters, params);
    }
    return json.endObject();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof BatchInLog that
        && numbers.equals(that.numbers)
        && filters.equals(that.filters);
  }

  @Override
  public int hashCode() {
    return Objects.hash(numbers, filters);
  }

  @Override
  public String toString() {
    return numbers.toString();
  }
}
