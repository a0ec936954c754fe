package dev.vamana.elasticsearch.search.neighbors;

import dev.vamana.elasticsearch.search.BatchSearchRequest;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.action.IndicesRequest;
import org.elasticsearch.action.UntypedActionRequest;
import org.elasticsearch.action.ValidateActions;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;

/**
 * Asks for the nearest documents of every document of an index.
 *
 * <p>{@link #validate} reports all values that are out of range.
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

  /**
   * What to find, and where to write it.
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

    private static Options readFrom(StreamInput in) throws IOException {
      return new Options(
          in.readString(),
          in.readVInt(),
          in.readOptionalVInt(),
          in.readBoolean(),
          in.readOptionalFloat(),
          in.readOptionalNamedWriteable(QueryBuilder.class),
          in.readOptionalNamedWriteable(QueryBuilder.class),
          in.readString(),
          in.readString(),
          in.readVInt(),
          in.readOptionalVInt(),
          in.readBoolean());
    }

    private void writeTo(StreamOutput out) throws IOException {
      out.writeString(field);
      out.writeVInt(k);
      out.writeOptionalVInt(numCandidates);
      out.writeBoolean(exact);
      out.writeOptionalFloat(similarity);
      out.writeOptionalNamedWriteable(query);
      out.writeOptionalNamedWriteable(filter);
      out.writeString(destIndex);
      out.writeString(destField);
      out.writeVInt(batchSize);
      out.writeOptionalVInt(slices);
      out.writeBoolean(resume);
    }

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
   */
  public NeighborsRequest(
      String[] indices, Options options, boolean refresh, boolean storesResult) {
    this.indices = Objects.requireNonNull(indices, "indices");
    this.options = Objects.requireNonNull(options, "options");
    this.refresh = refresh;
    this.storesResult = storesResult;
  }

  /** Reads what {@link #writeTo} wrote. */
  public NeighborsRequest(StreamInput in) throws IOException {
    super(in);
    indices = in.readStringArray();
    options = Options.readFrom(in);
    refresh = in.readBoolean();
    storesResult = in.readBoolean();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeStringArray(indices);
    options.writeTo(out);
    out.writeBoolean(refresh);
    out.writeBoolean(storesResult);
  }

  @Override
  public ActionRequestValidationException validate() {
    ActionRequestValidationException errors = null;
    errors = named("index", indices.length == 0 ? null : indices[0], errors);
    errors = named("field", options.field(), errors);
    errors = named("dest.index", options.destIndex(), errors);
    errors = named("dest.field", options.destField(), errors);
    errors = within("k", options.k(), 1, MAX_K, errors);
    errors = within("batch_size", options.batchSize(), 1, MAX, errors);
    if (options.slices() != null) {
      errors = within("slices", options.slices(), 1, MAX_SLICES, errors);
    }
    if (options.numCandidates() != null) {
      errors = within("num_candidates", options.numCandidates(), options.k(), MAX, errors);
    }
    Float similarity = options.similarity();
    if (similarity != null && Float.isFinite(similarity) == false) {
      errors =
          ValidateActions.addValidationError(
              "[similarity] is [" + similarity + "], allowed are finite numbers", errors);
    }
    return errors;
  }

  private static ActionRequestValidationException named(
      String key, String value, ActionRequestValidationException errors) {
    return value == null || value.isEmpty()
        ? ValidateActions.addValidationError("[" + key + "] is missing, allowed is a name", errors)
        : errors;
  }

  private static ActionRequestValidationException within(
      String key, int value, int least, int most, ActionRequestValidationException errors) {
    return value < least || value > most
        ? ValidateActions.addValidationError(
            "["
                + key
                + "] is ["
                + value
                + "], allowed is a whole number from "
                + least
                + " to "
                + most,
            errors)
        : errors;
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

  /** What to find, and where to write it. */
  public Options options() {
    return options;
  }

  /** Whether to refresh the index that is written to, at the end. */
  public boolean refresh() {
    return refresh;
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
      long id, String type, String action, TaskId parent, Map<String, String> headers) {
    return new NeighborsTask(id, type, action, getDescription(), parent, headers);
  }
}
