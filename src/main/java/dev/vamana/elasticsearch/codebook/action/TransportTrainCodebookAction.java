package dev.vamana.elasticsearch.codebook.action;

import dev.vamana.elasticsearch.codebook.store.CodebookEntry;
import dev.vamana.elasticsearch.codebook.train.IndexTrainings;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.HandledTransportAction;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;
import org.elasticsearch.tasks.TaskManager;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Trains a codebook from the field of an index, on the node that receives the request. */
public final class TransportTrainCodebookAction
    extends HandledTransportAction<TrainCodebookRequest, CodebooksResponse> {

  /** The action. The caller also needs the privilege to search the index. */
  public static final ActionType<CodebooksResponse> TYPE =
      new ActionType<>("cluster:admin/vamana/codebooks/train");

  private final TransportService transport;
  private final IndexTrainings trainings;

  /** Called by the node. */
  @Inject
  public TransportTrainCodebookAction(
      TransportService transport,
      ActionFilters filters,
      ThreadPool threads,
      IndexTrainings trainings) {
    super(
        TYPE.name(),
        transport,
        filters,
        TrainCodebookRequest::new,
        threads.executor(ThreadPool.Names.MANAGEMENT));
    this.transport = transport;
    this.trainings = trainings;
  }

  @Override
  protected void doExecute(
      Task task, TrainCodebookRequest request, ActionListener<CodebooksResponse> listener) {
    if (request.waits()) {
      BooleanSupplier cancelled =
          task instanceof CancellableTask cancellable ? cancellable::isCancelled : () -> false;
      trainings.train(
          request.name(),
          request.source(),
          false,
          cancelled,
          listener.delegateFailureAndWrap((l, begun) -> {}),
          listener.map(TransportTrainCodebookAction::ready));
    } else {
      trainOn(request, listener);
    }
  }

  /** Answers when the training has begun. A separate task represents it until its end. */
  private void trainOn(TrainCodebookRequest request, ActionListener<CodebooksResponse> listener) {
    TaskManager tasks = transport.getTaskManager();
    CancellableTask training =
        (CancellableTask) tasks.register("transport", TYPE.name() + "[training]", request);
    TaskId id = new TaskId(transport.getLocalNode().getId(), training.getId());
    AtomicBoolean ended = new AtomicBoolean();
    Runnable end =
        () -> {
          if (ended.compareAndSet(false, true)) {
            tasks.unregister(training);
          }
        };
    ActionListener<CodebooksResponse> answer =
        listener.delegateResponse(
            (l, e) -> {
              end.run();
              l.onFailure(e);
            });
    ActionListener.run(
        answer,
        l ->
            trainings.train(
                request.name(),
                request.source(),
                true,
                training::isCancelled,
                l.map(begun -> new CodebooksResponse(List.of(begun(request.name())), id)),
                ActionListener.running(end)));
  }

  private static CodebooksResponse ready(CodebookEntry entry) {
    return new CodebooksResponse(List.of(CodebookView.of(entry.name(), entry, false, null, null)));
  }

  private static CodebookView begun(String name) {
    return new CodebookView(name, CodebookView.State.TRAINING, null, null, null);
  }
}
