package dev.vamana.elasticsearch.segments;

import java.util.List;
import org.elasticsearch.action.support.IndicesOptions;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.Strings;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.rest.action.RestActions;
import org.elasticsearch.rest.action.RestBuilderListener;
import org.elasticsearch.rest.action.RestCancellableNodeClient;
import org.elasticsearch.xcontent.XContentBuilder;

/** {@code GET /{index}/_vamana/stats}: the vector fields of indices, summed over their segments. */
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
    SegmentsRequest segments =
        new SegmentsRequest(Strings.splitStringByCommaToArray(request.param("index")));
    segments.indicesOptions(IndicesOptions.fromRequest(request, segments.indicesOptions()));
    return channel ->
        new RestCancellableNodeClient(client, request.getHttpChannel())
            .execute(
                TransportSegmentsAction.TYPE,
                segments,
                new RestBuilderListener<>(channel) {
                  @Override
                  public RestResponse buildResponse(SegmentsResponse response, XContentBuilder json)
                      throws Exception {
                    json.startObject();
                    RestActions.buildBroadcastShardsHeader(json, request, response);
                    IndexStats.of(response.segments()).toXContent(json, request);
                    json.endObject();
                    return new RestResponse(RestStatus.OK, json);
                  }
                });
  }
}
