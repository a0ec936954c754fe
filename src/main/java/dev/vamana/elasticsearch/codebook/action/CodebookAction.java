package dev.vamana.elasticsearch.codebook.action;

import dev.vamana.elasticsearch.codebook.store.CodebookStore;
import dev.vamana.elasticsearch.codebook.train.Trainer;
import org.elasticsearch.action.ActionRequest;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.HandledTransportAction;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Base class of actions on stored codebooks; runs on threads of the management pool. */
abstract class CodebookAction<Q extends ActionRequest, R extends ActionResponse>
    extends HandledTransportAction<Q, R> {

  private final CodebookStore store;
  private final Trainer trainer;

  CodebookAction(
      ActionType<R> type,
      TransportService transport,
      ActionFilters filters,
      ThreadPool threads,
      Writeable.Reader<Q> requests,
      CodebookStore store,
      Trainer trainer) {
    super(type.name(), transport, filters, requests, threads.executor(ThreadPool.Names.MANAGEMENT));
    this.store = store;
    this.trainer = trainer;
  }

  final CodebookStore store() {
    return store;
  }

  final Trainer trainer() {
    return trainer;
  }
}
