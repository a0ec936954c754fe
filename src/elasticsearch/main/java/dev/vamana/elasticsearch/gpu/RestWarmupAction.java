package dev.vamana.elasticsearch.gpu;

import org.elasticsearch.rest.RestRequest;

/** {@code POST /{index}/_vamana/warmup}. */
final class RestWarmupAction extends RestShardsAction<WarmupRequest, WarmupResponse> {

  RestWarmupAction() {
    super("warmup", TransportWarmupAction.TYPE, WarmupRequest::new);
  }

  @Override
  void readParameters(RestRequest http, WarmupRequest request) {
    request.uploadTimeout(http.paramAsTime("timeout", request.uploadTimeout()));
    request.waitForCompletion(
        http.paramAsBoolean("wait_for_completion", request.waitForCompletion()));
  }
}
