package dev.vamana.elasticsearch.search;

import dev.vamana.search.WalkChange;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.action.IndicesRequest;
import org.elasticsearch.action.UntypedActionRequest;
import org.elasticsearch.action.ValidateActions;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.search.fetch.subphase.FetchSourceContext;
import org.elasticsearch.search.fetch.subphase.FieldAndFormat;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;

/**
 * Asks for the nearest documents of many query vectors in some indices.
 *
 * <p>It stays on the node. Setters return the request, and whoever calls them keeps to their
 * ranges; {@link #validate} reports what does not fit together.
 */
public final class BatchSearchRequest extends UntypedActionRequest
    implements IndicesRequest.Replaceable {

  /** Most query vectors of a request. */
  public static final int MAX_VECTORS = 10_000;

  /** Most candidates per query, as in the {@code knn} section of a search. */
  public static final int MAX_NUM_CANDIDATES = 10_000;

  /** Default of the hits per query. */
  public static final int DEFAULT_K = 10;

  private String[] indices;
  private IndicesOptions indicesOptions = SearchRequest.DEFAULT_INDICES_OPTIONS;
  private String field;
  private QueryVectors vectors;
  private Integer k;
  private Integer numCandidates;
  private List<QueryBuilder> filters = List.of();
  private Float similarity;
  private WalkChange walk = WalkChange.NONE;
  private boolean exact;
  private FetchSourceContext source;
  private List<FieldAndFormat> fields = List.of();
  private String routing;
  private String preference;
  private boolean columnar;
  private boolean profile;
  private TimeValue timeout;
  private Boolean allowPartialSearchResults;
  private Integer maxConcurrentShardRequests;

  /** Makes a request for the given indices, or for all if there are none. */
  public BatchSearchRequest(String... indices) {
    this.indices = Objects.requireNonNull(indices, "indices");
  }

  @Override
  public void writeTo(StreamOutput out) {
    TransportAction.localOnly();
  }

  @Override
  public ActionRequestValidationException validate() {
    ActionRequestValidationException errors = null;
    if (maxConcurrentShardRequests() < 1) {
      errors =
          ValidateActions.addValidationError(
              "[max_concurrent_shard_requests] must be at least [1], got ["
                  + maxConcurrentShardRequests
                  + "]",
              errors);
    }
    if (columnar && (fields.isEmpty() == false || (source != null && source.fetchSource()))) {
      errors =
          ValidateActions.addValidationError(
              "the columnar form has only ids and scores, [_source] and [fields] require the"
                  + " standard form",
              errors);
    }
    return errors;
  }

  @Override
  public String[] indices() {
    return indices;
  }

  @Override
  public BatchSearchRequest indices(String... newIndices) {
    indices = Objects.requireNonNull(newIndices, "indices");
    return this;
  }

  @Override
  public IndicesOptions indicesOptions() {
    return indicesOptions;
  }

  /** Sets how index names are resolved; the default is as for searches. */
  public BatchSearchRequest indicesOptions(IndicesOptions options) {
    indicesOptions = Objects.requireNonNull(options, "indicesOptions");
    return this;
  }

  @Override
  public boolean includeDataStreams() {
    return true;
  }

  /** Name of the {@code dense_vector} field. */
  public String field() {
    return field;
  }

  /** Sets the name of the {@code dense_vector} field. */
  public BatchSearchRequest field(String name) {
    field = name;
    return this;
  }

  /** The query vectors. */
  public QueryVectors vectors() {
    return vectors;
  }

  /** Sets the query vectors, 1 to {@value #MAX_VECTORS}. */
  public BatchSearchRequest vectors(QueryVectors queryVectors) {
    vectors = queryVectors;
    return this;
  }

  /** Most hits per query. */
  public int k() {
    return k == null ? DEFAULT_K : k;
  }

  /** Sets the most hits per query, 1 to {@value #MAX_NUM_CANDIDATES}; null for the default. */
  public BatchSearchRequest k(Integer hits) {
    k = hits;
    return this;
  }

  /** Width of the search in a shard; by default one and a half times k, as for searches. */
  public int numCandidates() {
    return numCandidates == null
        ? Math.round(Math.min(1.5f * k(), MAX_NUM_CANDIDATES))
        : numCandidates;
  }

  /**
   * Sets the width of the search in a shard, k to {@value #MAX_NUM_CANDIDATES}; null for the
   * default.
   */
  public BatchSearchRequest numCandidates(Integer candidates) {
    numCandidates = candidates;
    return this;
  }

  /** Filters of the documents: no entry, one for all queries, or one per query. */
  public List<QueryBuilder> filters() {
    return filters;
  }

  /**
   * Sets the filters.
   *
   * @param queries none, one for all queries, or one per query; entries may be null
   */
  public BatchSearchRequest filters(List<QueryBuilder> queries) {
    filters = new ArrayList<>(queries);
    return this;
  }

  /** Minimum similarity of a hit, measured as in the {@code knn} section; null for none. */
  public Float similarity() {
    return similarity;
  }

  /** Sets the minimum similarity of a hit; null for none. */
  public BatchSearchRequest similarity(Float least) {
    similarity = least;
    return this;
  }

  /** Sets what the request changes in walks. */
  public BatchSearchRequest walk(WalkChange change) {
    walk = Objects.requireNonNull(change, "walk");
    return this;
  }

  /**
   * Sets whether the query is compared with all vectors, so that its hits are the nearest of all
   * documents. Threads of the pool do this, also on a node with another executor.
   */
  public BatchSearchRequest exact(boolean value) {
    exact = value;
    return this;
  }

  /** Sets the parts of the source to return; null for the default. */
  public BatchSearchRequest source(FetchSourceContext context) {
    source = context;
    return this;
  }

  /** Sets the fields to return with each hit. */
  public BatchSearchRequest fields(List<FieldAndFormat> fetched) {
    fields = List.copyOf(fetched);
    return this;
  }

  /** Routing values, separated by commas, or null. */
  public String routing() {
    return routing;
  }

  /** Sets the routing values, separated by commas; null for none. */
  public BatchSearchRequest routing(String values) {
    routing = values;
    return this;
  }

  /** The preferred copies of shards, or null. */
  public String preference() {
    return preference;
  }

  /** Sets the preferred copies of shards; null for none. */
  public BatchSearchRequest preference(String value) {
    preference = value;
    return this;
  }

  /** Sets whether the answer has columns of ids and scores instead of standard hits. */
  public BatchSearchRequest columnar(boolean value) {
    columnar = value;
    return this;
  }

  /** Whether the answer says what the batch cost its shards. */
  public boolean profile() {
    return profile;
  }

  /** Sets whether the answer says what the batch cost its shards. */
  public BatchSearchRequest profile(boolean value) {
    profile = value;
    return this;
  }

  /** Sets the time after which shards return what they have found; null for the node's default. */
  public BatchSearchRequest timeout(TimeValue value) {
    timeout = value;
    return this;
  }

  /** Sets whether to return the hits of some shards if others fail; null for the default. */
  public BatchSearchRequest allowPartialSearchResults(Boolean allow) {
    allowPartialSearchResults = allow;
    return this;
  }

  /** Most shards of a node that are searched at a time; the default is that of searches. */
  public int maxConcurrentShardRequests() {
    return maxConcurrentShardRequests == null
        ? SearchRequest.DEFAULT_MAX_CONCURRENT_SHARD_REQUESTS
        : maxConcurrentShardRequests;
  }

  /**
   * Sets the most shards of a node that are searched at a time, at least 1; null for the default.
   */
  public BatchSearchRequest maxConcurrentShardRequests(Integer most) {
    maxConcurrentShardRequests = most;
    return this;
  }

  /** The parts of the hits' documents to read. */
  public FetchSpec fetch() {
    return new FetchSpec(columnar, source, fields);
  }

  /**
   * The part of the search that is the same for all shards.
   *
   * @param rewritten the filters, as far as this node can rewrite them
   * @param defaultTimeout used where the request names none
   * @param defaultAllowPartial likewise
   * @param nowMillis the time that relative dates in filters refer to
   */
  ShardQuery shardQuery(
      QueryFilters rewritten,
      TimeValue defaultTimeout,
      boolean defaultAllowPartial,
      long nowMillis) {
    return new ShardQuery(
        field,
        vectors,
        k(),
        numCandidates(),
        rewritten,
        similarity,
        walk,
        exact,
        timeout == null ? defaultTimeout : timeout,
        allowPartialSearchResults == null ? defaultAllowPartial : allowPartialSearchResults,
        nowMillis);
  }

  @Override
  public String getDescription() {
    return "indices"
        + Arrays.toString(indices)
        + ", field["
        + field
        + "], vectors["
        + (vectors == null ? 0 : vectors.count())
        + "], k["
        + k()
        + "], num_candidates["
        + numCandidates()
        + "], filters["
        + filters.size()
        + "], columnar["
        + columnar
        + "]";
  }

  @Override
  public Task createTask(
      long id, String type, String action, TaskId parentTaskId, Map<String, String> headers) {
    return new BatchSearchTask(id, type, action, getDescription(), parentTaskId, headers);
  }
}
