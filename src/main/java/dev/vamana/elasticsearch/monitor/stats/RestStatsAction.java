package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.elasticsearch.monitor.openmetrics.OpenMetrics;
import java.util.List;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.Strings;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestChannel;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.rest.action.RestRefCountedChunkedToXContentListener;
import org.elasticsearch.rest.action.RestResponseListener;

/**
 * {@code GET /_vamana/stats}, for some nodes or all, and for some metrics or all; as JSON or as
 * OpenMetrics text.
 */
public final class RestStatsAction extends BaseRestHandler {

  @Override
  public String getName() {
    return "vamana_stats";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        new Route(RestRequest.Method.GET, "/_vamana/stats"),
        new Route(RestRequest.Method.GET, "/_vamana/stats/{metric}"),
        new Route(RestRequest.Method.GET, "/_vamana/{nodeId}/stats"),
        new Route(RestRequest.Method.GET, "/_vamana/{nodeId}/stats/{metric}"));
  }

  @Override
  public boolean canTripCircuitBreaker() {
    return false;
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
    String[] metrics = Strings.splitStringByCommaToArray(request.param("metric", ""));
    StatsRequest stats =
        new StatsRequest(
            request.hasParam("metric") ? Metric.of(List.of(metrics)) : Metric.all(),
            Strings.splitStringByCommaToArray(request.param("nodeId", "")));
    stats.setTimeout(request.paramAsTime("timeout", stats.timeout()));
    boolean openMetrics = OpenMetrics.isAskedFor(request);
    return channel ->
        new RestCancellableNodeClient(client, request.getHttpChannel())
            .execute(
                TransportStatsAction.TYPE,
                stats,
                openMetrics
                    ? new MetricsListener(channel)
                    : new RestRefCountedChunkedToXContentListener<>(channel));
  }

  private static final class MetricsListener extends RestResponseListener<StatsResponse> {
    MetricsListener(RestChannel channel) {
      super(channel);
    }

    @Override
    public RestResponse buildResponse(StatsResponse response) {
      return OpenMetrics.answer(StatsMetrics.of(response));
    }
  }
}
