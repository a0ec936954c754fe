package dev.vamana.elasticsearch.search.neighbors;

import dev.vamana.elasticsearch.search.BatchSearchRequest;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.action.IndicesRequest;
import org.elasticsearch.action.UntypedActionRequest;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.index.reindex.BulkByPaginatedSearchTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;

/**
 * Asks for the nearest documents of every document of an index. It stays on the node; whoever makes
 * it keeps to the ranges.
 */
public final class NeighborsRequest extends UntypedActionRequest
    implements IndicesRequest.Replaceable {

  /** Greatest width of a search, and most documents of a batch. */
  public static final int MAX = 10_000;

  /** Most neighbours of a document: one hit of a search is the document itself. */
  public static final int MAX_K = MAX - 1;

  /** Documents of a batch by default, as for a reindex. */
  public static final int DEFAULT_BATCH_SIZE = 1_000;

  /** Most slices of a run. */
  public static final int MAX_SLICES = 64;

  private static final int MOST_DEFAULT_SLICES = 8;

  // the vectors of larger batches in more slices might take more memory than a small node has
  private static final int MOST_DEFAULT_DOCUMENTS = 2 * MAX;

  /** Least width of a search by default. */
  private static final int LEAST_DEFAULT_CANDIDATES = 100;

  private String[] indices;
  private final Options options;
  private final boolean refresh;
  private final boolean storesResult;
  private final float requestsPerSecond;

  /**
   * Options of a search for neighbours, and the index to write to.
   *
   * @param field name of a {@code dense_vector} field
   * @param k most neighbours of a document, 1 to {@value #MAX_K}
   * @param numCandidates width of the search in a shard, k to {@value #MAX}; null for the default:
   *     one and a half times k + 1, at least 100
   * @param exact whether to compare each document with all others
   * @param similarity least similarity of a neighbour, or null
   * @param query which documents get neighbours, or null for all
   * @param filter which documents can be neighbours, or null for all
   * @param destIndex the index to write to
   * @param destField the field to write to
   * @param batchSize documents that are searched together, 1 to {@value #MAX}
   * @param slices parts of the index whose batches are read, searched and written side by side, 1
   *     to {@value #MAX_SLICES}; null for the default: half the processors of the node, at most
   *     {@value #MOST_DEFAULT_SLICES}, and of at most 20,000 documents together
   * @param resume whether documents that are in the index to write to are left out
   */
  public record Options(
      String field,
      int k,
      Integer numCandidates,
      boolean exact,
      Float similarity,
      QueryBuilder query,
      QueryBuilder filter,
      String destIndex,
      String destField,
      int batchSize,
      Integer slices,
      boolean resume) {

    /** Hits to ask for: one more than neighbours, since a document finds itself. */
    int hits() {
      return k + 1;
    }

    /** Width of the search in a shard, which has room for the document itself. */
    int candidates() {
      int asked =
          numCandidates == null
              ? Math.max(Math.round(1.5f * hits()), LEAST_DEFAULT_CANDIDATES)
              : numCandidates;
      return Math.min(Math.max(asked, hits()), MAX);
    }

    /**
     * Slices of a run; no more than there are batches.
     *
     * @param documents documents that get neighbours
     * @param processors processors of the node
     */
    int slices(long documents, int processors) {
      int most = Math.min(MOST_DEFAULT_SLICES, MOST_DEFAULT_DOCUMENTS / batchSize);
      int asked = slices == null ? Math.min(processors / 2, most) : slices;
      long batches = Math.ceilDiv(documents, batchSize);
      return Math.toIntExact(Math.max(1, Math.min(asked, batches)));
    }
  }

  /**
   * Makes a request.
   *
   * @param indices names that lead to one index
   * @param refresh whether to refresh the index that is written to, at the end
   * @param storesResult whether the result is kept in the index of tasks
   * @param requestsPerSecond documents that are searched and written a second, above 0, or infinity
   */
  public NeighborsRequest(
      String[] indices,
      Options options,
      boolean refresh,
      boolean storesResult,
      float requestsPerSecond) {
    this.indices = Objects.requireNonNull(indices, "indices");
    this.options = Objects.requireNonNull(options, "options");
    this.refresh = refresh;
    this.storesResult = storesResult;
    this.requestsPerSecond = requestsPerSecond;
  }

  @Override
  public void writeTo(StreamOutput out) {
    TransportAction.localOnly();
  }

  @Override
  public ActionRequestValidationException validate() {
    return null;
  }

  @Override
  public String[] indices() {
    return indices;
  }

  @Override
  public NeighborsRequest indices(String... names) {
    indices = Objects.requireNonNull(names, "indices");
    return this;
  }

  @Override
  public IndicesOptions indicesOptions() {
    return IndicesOptions.strictExpandOpenAndForbidClosed();
  }

  @Override
  public boolean includeDataStreams() {
    return true;
  }

  /** Options of the search for neighbours, and the index to write to. */
  public Options options() {
    return options;
  }

  /** Whether to refresh the index that is written to, at the end. */
  public boolean refresh() {
    return refresh;
  }

  /** Documents that are searched and written a second at the beginning, or infinity. */
  float requestsPerSecond() {
    return requestsPerSecond;
  }

  @Override
  public boolean getShouldStoreResult() {
    return storesResult;
  }

  /** Makes the search of a batch; the caller sets the vectors. */
  BatchSearchRequest search() {
    return new BatchSearchRequest(indices)
        .indicesOptions(indicesOptions())
        .field(options.field())
        .k(options.hits())
        .numCandidates(options.candidates())
        .exact(options.exact())
        .similarity(options.similarity())
        .filters(options.filter() == null ? List.of() : List.of(options.filter()))
        .timeout(TimeValue.MINUS_ONE)
        .allowPartialSearchResults(false)
        .columnar(true);
  }

  @Override
  public String getDescription() {
    return "neighbors of "
        + String.join(",", indices)
        + ", field ["
        + options.field()
        + "], k ["
        + options.k()
        + "], to ["
        + options.destIndex()
        + "]";
  }

  @Override
  public Task createTask(
      TaskId id, String type, String action, TaskId parent, Map<String, String> headers) {
    return new BulkByPaginatedSearchTask(
        id, type, action, getDescription(), parent, headers, false, null);
  }
}
