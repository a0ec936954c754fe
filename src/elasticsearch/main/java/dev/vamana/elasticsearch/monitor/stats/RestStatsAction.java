package dev.vamana.elasticsearch.monitor.stats;

import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.Strings;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.rest.action.RestRefCountedChunkedToXContentListener;

/**
 * {@code GET /_vamana/nodes/stats}, for some nodes or all, and for some metrics or all; as JSON or
 * as OpenMetrics text.
 */
public final class RestStatsAction extends BaseRestHandler {
  private static final String ALL = "_all";

  @Override
  public String getName() {
    return "vamana_nodes_stats";
  }

  @Override
  public List<Route> routes() {
    return List.of(
        new Route(RestRequest.Method.GET, "/_vamana/nodes/stats"),
        new Route(RestRequest.Method.GET, "/_vamana/nodes/stats/{metric}"),
        new Route(RestRequest.Method.GET, "/_vamana/nodes/{nodeId}/stats"),
        new Route(RestRequest.Method.GET, "/_vamana/nodes/{nodeId}/stats/{metric}"));
  }

  @Override
  public boolean canTripCircuitBreaker() {
    return false;
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
    StatsRequest stats =
        new StatsRequest(
            sections(request.paramAsStringArray("metric", new String[] {ALL})),
            Strings.splitStringByCommaToArray(request.param("nodeId", "")));
    stats.setTimeout(request.paramAsTime("timeout", stats.timeout()));
    boolean openMetrics = OpenMetrics.isAskedFor(request);
    return channel ->
        new RestCancellableNodeClient(client, request.getHttpChannel())
            .execute(
                TransportStatsAction.TYPE,
                stats,
                openMetrics
                    ? OpenMetrics.listener(channel, StatsResponse::openMetrics)
                    : new RestRefCountedChunkedToXContentListener<>(channel));
  }

  /**
   * Returns sections by name; {@code _all} stands for all.
   *
   * @throws IllegalArgumentException if a name is unknown; the message lists the known names
   */
  static Set<String> sections(String... names) {
    Set<String> asked = new TreeSet<>(List.of(names));
    if (asked.remove(ALL)) {
      asked.addAll(NodeFigures.SECTIONS);
    }
    Set<String> unknown = new TreeSet<>(asked);
    unknown.removeAll(NodeFigures.SECTIONS);
    if (unknown.isEmpty() == false || asked.isEmpty()) {
      throw new IllegalArgumentException(
          "path parameter [metric] has unknown metrics "
              + unknown
              + "; known are ["
              + ALL
              + ", "
              + NodeFigures.SECTIONS.stream().sorted().collect(Collectors.joining(", "))
              + "]");
    }
    return asked;
  }
}
