package dev.vamana.elasticsearch.search;

import java.util.concurrent.Executor;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionListenerResponseHandler;
import org.elasticsearch.action.search.SearchTransportService;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.cluster.node.DiscoveryNodes;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.search.internal.ShardSearchContextId;
import org.elasticsearch.transport.NodeNotConnectedException;
import org.elasticsearch.transport.Transport;
import org.elasticsearch.transport.TransportRequest;
import org.elasticsearch.transport.TransportRequestOptions;
import org.elasticsearch.transport.TransportResponse;
import org.elasticsearch.transport.TransportService;

/** Asks the nodes of the cluster, as children of the task of the batched search. */
final class TransportNodes implements BatchSearchRun.Nodes {

  private final TransportService transport;
  private final SearchTransportService readers;
  private final DiscoveryNodes nodes;
  private final Executor executor;
  private final BatchSearchTask task;

  /**
   * Makes a client of nodes.
   *
   * @param readers closes readers
   * @param nodes the nodes of the cluster when the search started
   * @param executor where answers are read and listeners called
   */
  TransportNodes(
      TransportService transport,
      SearchTransportService readers,
      DiscoveryNodes nodes,
      Executor executor,
      BatchSearchTask task) {
    this.transport = transport;
    this.readers = readers;
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
      String node, NodeQueryRequest request, ActionListener<NodeQueryResponse> listener) {
    send(node, TransportBatchSearchAction.QUERY, request, NodeQueryResponse::new, listener);
  }

  @Override
  public void fetch(
      String node, ShardFetchRequest request, ActionListener<ShardFetchRequest.Response> listener) {
    send(
        node, TransportBatchSearchAction.FETCH, request, ShardFetchRequest.Response::new, listener);
  }

  private <T extends TransportResponse> void send(
      String node,
      String action,
      TransportRequest request,
      Writeable.Reader<T> reader,
      ActionListener<T> listener) {
    ActionListener.run(
        listener,
        l ->
            transport.sendChildRequest(
                connection(node),
                action,
                request,
                task,
                TransportRequestOptions.EMPTY,
                new ActionListenerResponseHandler<>(l, reader, executor)));
  }

  private Transport.Connection connection(String id) {
    DiscoveryNode node = nodes.get(id);
    if (node == null) {
      throw new NodeNotConnectedException(null, "node [" + id + "] has left the cluster");
    }
    return transport.getConnection(node);
  }

  /**
   * By the server's own action, which no full pool rejects, and not as a child of the task, since
   * nothing may be started for one that is cancelled. A node that is gone has closed its readers.
   */
  @Override
  public void free(String node, ShardSearchContextId reader) {
    ActionListener.run(
        ActionListener.noop(),
        l -> readers.sendFreeContext(connection(node), reader, l.map(r -> null)));
  }
}
