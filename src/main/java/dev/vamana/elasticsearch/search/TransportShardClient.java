package dev.vamana.elasticsearch.search;

import java.util.concurrent.Executor;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionListenerResponseHandler;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.action.NoShardAvailableActionException;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.transport.TransportRequestOptions;
import org.elasticsearch.transport.TransportResponse;
import org.elasticsearch.transport.TransportResponseHandler;
import org.elasticsearch.transport.TransportService;

/** Asks the nodes of the cluster, as children of the task of the batched search. */
final class TransportShardClient implements ShardClient {

  private final TransportService transport;
  private final DiscoveryNodes nodes;
  private final Executor executor;
  private final BatchSearchTask task;

  /**
   * Makes a client.
   *
   * @param nodes the nodes of the cluster when the search started
   * @param executor where answers are read and listeners called
   */
  TransportShardClient(
      TransportService transport, DiscoveryNodes nodes, Executor executor, BatchSearchTask task) {
    this.transport = transport;
    this.nodes = nodes;
    this.executor = executor;
    this.task = task;
  }

  @Override
  public boolean copies(String node) {
    return node.equals(nodes.getLocalNodeId()) == false;
  }

  @Override
  public void query(
      String node, ShardQueryRequest request, ActionListener<ShardQueryResponse> listener) {
    send(node, TransportBatchSearchAction.QUERY, request, ShardQueryResponse::new, listener);
  }

  @Override
  public void fetch(
      String node, ShardFetchRequest request, ActionListener<ShardFetchResponse> listener) {
    send(node, TransportBatchSearchAction.FETCH, request, ShardFetchResponse::new, listener);
  }

  private <T extends TransportResponse> void send(
      String nodeId,
      String action,
      ShardRequest request,
      Writeable.Reader<T> reader,
      ActionListener<T> listener) {
    ActionListener.run(
        listener,
        l -> {
          DiscoveryNode node = nodes.get(nodeId);
          if (node == null) {
            throw new NoShardAvailableActionException(
                request.target().shardId(), "node [" + nodeId + "] has left the cluster");
          }
          transport.sendChildRequest(
              transport.getConnection(node),
              action,
              request,
              task,
              TransportRequestOptions.EMPTY,
              new ActionListenerResponseHandler<>(l, reader, executor));
        });
  }

  /** Not as a child of the task, since nothing may be started for one that is cancelled. */
  @Override
  public void free(String node, ShardFetchRequest request) {
    transport.sendRequest(
        nodes.get(node),
        TransportBatchSearchAction.FREE,
        request,
        new ActionListenerResponseHandler<>(
            ActionListener.<ActionResponse.Empty>noop(),
            in -> ActionResponse.Empty.INSTANCE,
            TransportResponseHandler.TRANSPORT_WORKER));
  }
}
