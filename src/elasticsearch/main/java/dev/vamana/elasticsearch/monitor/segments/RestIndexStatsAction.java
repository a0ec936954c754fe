package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.monitor.stats.Figures;
import dev.vamana.elasticsearch.monitor.stats.OpenMetrics;
import java.util.List;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.rest.action.RestActions;
import org.elasticsearch.rest.action.RestBuilderListener;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * {@code GET /{index}/_vamana/stats}: the vector fields of indices, summed over their segments, and
 * the measured recall of their searches.
 */
public final class RestIndexStatsAction extends BaseRestHandler {

  @Override
  public String getName() {
    return "vamana_index_stats";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(RestRequest.Method.GET, "/{index}/_vamana/stats"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
    SegmentsRequest segments = SegmentsRequest.of(request);
    boolean metrics = OpenMetrics.isAskedFor(request);
    return channel ->
        new RestCancellableNodeClient(client, request.getHttpChannel())
            .execute(
                TransportSegmentsAction.TYPE,
                segments,
                metrics
                    ? OpenMetrics.listener(
                        channel, response -> new IndexStats(response).openMetrics())
                    : new RestBuilderListener<>(channel) {
                      @Override
                      public RestResponse buildResponse(
                          SegmentsResponse response, XContentBuilder json) throws Exception {
                        json.startObject();
                        RestActions.buildBroadcastShardsHeader(json, request, response);
                        Figures.write(json, new IndexStats(response).figures());
                        return new RestResponse(RestStatus.OK, json.endObject());
                      }
                    });
  }
}
