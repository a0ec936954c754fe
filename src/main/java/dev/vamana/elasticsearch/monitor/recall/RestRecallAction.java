package dev.vamana.elasticsearch.monitor.recall;

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

/** {@code GET /{index}/_vamana/recall}: the recall of the searches of indices. */
public final class RestRecallAction extends BaseRestHandler {

  @Override
  public String getName() {
    return "vamana_recall";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(RestRequest.Method.GET, "/{index}/_vamana/recall"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
    RecallRequest recall =
        new RecallRequest(Strings.splitStringByCommaToArray(request.param("index")));
    recall.indicesOptions(IndicesOptions.fromRequest(request, recall.indicesOptions()));
    return channel ->
        new RestCancellableNodeClient(client, request.getHttpChannel())
            .execute(
                TransportRecallAction.TYPE,
                recall,
                new RestBuilderListener<>(channel) {
                  @Override
                  public RestResponse buildResponse(RecallResponse response, XContentBuilder json)
                      throws Exception {
                    json.startObject();
                    RestActions.buildBroadcastShardsHeader(json, request, response);
                    response.toXContent(json, request);
                    json.endObject();
                    return new RestResponse(RestStatus.OK, json);
                  }
                });
  }
}
