package dev.vamana.elasticsearch.monitor.segments;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.admin.cluster.node.info.NodesInfoMetrics;
import org.elasticsearch.action.admin.cluster.node.info.NodesInfoRequest;
import org.elasticsearch.action.admin.cluster.state.ClusterStateRequest;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.rest.RestUtils;
import org.elasticsearch.rest.action.RestBuilderListener;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * {@code GET /_vamana/removal}: whether the plugin can be removed from all nodes, and what still
 * needs it. The user needs the privileges to monitor the cluster and all indices.
 */
public final class RestRemovalAction extends BaseRestHandler {

  @Override
  public String getName() {
    return "vamana_removal";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(RestRequest.Method.GET, "/_vamana/removal"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient node) {
    ClusterStateRequest state =
        new ClusterStateRequest(RestUtils.getMasterNodeTimeout(request))
            .clear()
            .metadata(true)
            .routingTable(true);
    state.indicesOptions(IndicesOptions.LENIENT_EXPAND_OPEN_CLOSED_HIDDEN);
    return channel -> {
      Client client = new RestCancellableNodeClient(node, request.getHttpChannel());
      find(
          client,
          node,
          state,
          new RestBuilderListener<>(channel) {
            @Override
            public RestResponse buildResponse(
                List<RemovalCheck.Obstacle> found, XContentBuilder json) throws IOException {
              json.startObject();
              json.field("removable", found.isEmpty());
              json.xContentList("in_the_way", found);
              json.endObject();
              return new RestResponse(RestStatus.OK, json);
            }
          });
    };
  }

  /**
   * Gathers answers, by a client whose requests end with the channel, and by one for the others.
   */
  private static void find(
      Client client,
      Client steady,
      ClusterStateRequest state,
      ActionListener<List<RemovalCheck.Obstacle>> listener) {
    SegmentsRequest segments = new SegmentsRequest();
    segments.indicesOptions(IndicesOptions.LENIENT_EXPAND_OPEN_HIDDEN);
    NodesInfoRequest nodes =
        new NodesInfoRequest().clear().addMetric(NodesInfoMetrics.Metric.SETTINGS.metricName());
    client
        .admin()
        .cluster()
        .state(
            state,
            listener.delegateFailureAndWrap(
                (afterState, cluster) ->
                    steady
                        .admin()
                        .cluster()
                        .nodesInfo(
                            nodes,
                            afterState.delegateFailureAndWrap(
                                (afterNodes, infos) ->
                                    client.execute(
                                        TransportSegmentsAction.TYPE,
                                        segments,
                                        afterNodes.map(
                                            shards ->
                                                RemovalCheck.of(
                                                    cluster.getState(),
                                                    infos.getNodes(),
                                                    shards)))))));
  }
}
