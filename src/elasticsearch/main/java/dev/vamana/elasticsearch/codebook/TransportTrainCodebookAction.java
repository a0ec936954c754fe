package dev.vamana.elasticsearch.codebook;

import dev.vamana.elasticsearch.codebook.sample.SampleMemory;
import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.sample.Samples;
import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.elasticsearch.codebook.train.IndexField;
import dev.vamana.elasticsearch.codebook.train.IndexVectors;
import dev.vamana.elasticsearch.codebook.train.Trainer;
import dev.vamana.pq.SharedCodebook;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.ValidateActions;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.common.Strings;
import org.elasticsearch.index.query.AbstractQueryBuilder;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;
import org.elasticsearch.xcontent.ObjectParser;
import org.elasticsearch.xcontent.ParseField;
import org.elasticsearch.xcontent.XContentParser;

/** Trains a codebook from the field of an index, on the node that receives the request. */
public final class TransportTrainCodebookAction
    extends TransportAction<TransportTrainCodebookAction.Request, CodebooksResponse> {

  /** The action. The caller also needs the privilege to search the index. */
  public static final ActionType<CodebooksResponse> TYPE =
      new ActionType<>("cluster:admin/vamana/codebooks/train");

  // a codebook keeps at most 1,024 characters of what it was trained from
  private static final int MAX_FROM = 1_000;

  private final Client client;
  private final SampleMemory memory;
  private final Trainer trainer;

  /** Trains a codebook from the field of an index. */
  static final class Request extends LocalRequest {
    private static final ObjectParser<Request, Void> BODY = new ObjectParser<>("training");

    static {
      BODY.declareStringArray(
          (request, names) -> request.index = String.join(",", names), new ParseField("index"));
      BODY.declareString((request, field) -> request.field = field, new ParseField("field"));
      BODY.declareObject(
          (request, query) -> request.query = query,
          (parser, none) -> AbstractQueryBuilder.parseTopLevelQuery(parser),
          new ParseField("query"));
      BODY.declareInt((request, size) -> request.sampleSize = size, new ParseField("sample_size"));
      BODY.declareInt((request, count) -> request.subspaces = count, new ParseField("subspaces"));
    }

    private final String name;
    private final boolean storesResult;
    private String index;
    private String field;
    private QueryBuilder query;
    private int sampleSize = SampleOptions.DEFAULT_SAMPLE_SIZE;
    private int subspaces;

    private Request(String name, boolean storesResult) {
      this.name = name;
      this.storesResult = storesResult;
    }

    /**
     * Reads a request.
     *
     * @param storesResult whether the task API shows the result once the training has ended
     * @throws IllegalArgumentException if the body is malformed, or has an unknown key
     */
    static Request read(String name, boolean storesResult, XContentParser body) throws IOException {
      SharedCodebook.checkName(name);
      return BODY.parse(body, new Request(name, storesResult), null);
    }

    @Override
    public ActionRequestValidationException validate() {
      ActionRequestValidationException errors = null;
      if (Strings.isNullOrEmpty(index)) {
        errors = ValidateActions.addValidationError("[index] is missing", errors);
      }
      if (Strings.isNullOrEmpty(field)) {
        errors = ValidateActions.addValidationError("[field] is missing", errors);
      }
      return errors;
    }

    @Override
    public boolean getShouldStoreResult() {
      return storesResult;
    }

    private String from() {
      return Strings.cleanTruncate("index [" + index + "] field [" + field + "]", MAX_FROM);
    }

    @Override
    public Task createTask(
        long id, String type, String action, TaskId parent, Map<String, String> headers) {
      String description = "codebook [" + name + "] from " + from();
      return new CancellableTask(id, type, action, description, parent, headers);
    }
  }

  /** Called by the node. */
  @Inject
  public TransportTrainCodebookAction(
      TransportService transport,
      ActionFilters filters,
      ThreadPool threads,
      Client client,
      Samples samples,
      Trainer trainer) {
    super(
        TYPE.name(),
        filters,
        transport.getTaskManager(),
        threads.executor(ThreadPool.Names.MANAGEMENT));
    this.client = client;
    memory = samples.memory();
    this.trainer = trainer;
  }

  @Override
  protected void doExecute(Task task, Request request, ActionListener<CodebooksResponse> listener) {
    IndexField.space(
        client,
        request.index,
        request.field,
        listener.delegateFailureAndWrap(
            (l, space) -> train((CancellableTask) task, request, space, l)));
  }

  private void train(
      CancellableTask task,
      Request request,
      VectorSpace space,
      ActionListener<CodebooksResponse> listener) {
    SampleOptions options =
        new SampleOptions(
            space, request.subspaces, request.sampleSize, SampleOptions.MIN_SAMPLE_SIZE);
    IndexVectors vectors =
        new IndexVectors(
            client,
            request.index,
            request.field,
            request.query,
            options,
            memory,
            task::isCancelled);
    trainer.train(
        new Trainer.Plan(request.name, options, request.from(), false, task::isCancelled),
        vectors::draw,
        ActionListener.releaseBefore(
            vectors, listener.map(entry -> new CodebooksResponse(List.of(entry.shown(false))))));
  }
}
