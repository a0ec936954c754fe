package dev.vamana.elasticsearch.codebook.ingest;

import java.util.List;
import java.util.function.Supplier;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRequest;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.action.bulk.SimulateBulkAction;
import org.elasticsearch.action.ingest.SimulatePipelineAction;
import org.elasticsearch.action.support.ActionFilterChain;
import org.elasticsearch.action.support.MappedActionFilter;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.tasks.Task;

/**
 * Marks requests that simulate ingestion. A processor cannot see from its document whether it is
 * being simulated, and a simulation runs the processors of the stored pipeline. But requests pass
 * an action filter, and the thread context follows their work to other threads.
 */
final class Simulation implements MappedActionFilter {
  private static final String MARK = "_vamana_simulation";

  private final String action;
  private final Supplier<ThreadContext> context;

  private Simulation(String action, Supplier<ThreadContext> context) {
    this.action = action;
    this.context = context;
  }

  /** The filters of all actions that simulate ingestion. */
  static List<MappedActionFilter> filters(Supplier<ThreadContext> context) {
    return List.of(
        new Simulation(SimulatePipelineAction.NAME, context),
        new Simulation(SimulateBulkAction.NAME, context));
  }

  /** Whether the current thread works for a simulation. */
  static boolean in(ThreadContext context) {
    return context.getTransient(MARK) != null;
  }

  @Override
  public String actionName() {
    return action;
  }

  @Override
  public <Request extends ActionRequest, Response extends ActionResponse> void apply(
      Task task,
      String name,
      Request request,
      ActionListener<Response> listener,
      ActionFilterChain<Request, Response> chain) {
    ThreadContext threads = context.get();
    if (in(threads)) {
      chain.proceed(task, name, request, listener);
      return;
    }
    ThreadContext.StoredContext before = threads.newStoredContext();
    try {
      threads.putTransient(MARK, action);
      chain.proceed(task, name, request, listener);
    } finally {
      before.restore();
    }
  }
}
