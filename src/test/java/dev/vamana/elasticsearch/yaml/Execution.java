package dev.vamana.elasticsearch.yaml;

import java.io.IOException;
import java.util.Map;

/** A running test: what it has kept, what it was answered last, and where calls go. */
final class Execution {
  private final RestClient client;
  private final ApiSpecs specs;
  private final ClusterInfo cluster;
  private final InjectedSettings injected;
  private final Stash stash = new Stash();
  private RestResponse last;

  Execution(RestClient client, ApiSpecs specs, ClusterInfo cluster, InjectedSettings injected) {
    this.client = client;
    this.specs = specs;
    this.cluster = cluster;
    this.injected = injected;
  }

  ApiSpecs specs() {
    return specs;
  }

  ClusterInfo cluster() {
    return cluster;
  }

  InjectedSettings injected() {
    return injected;
  }

  Stash stash() {
    return stash;
  }

  /** Sends a test's request and keeps the answer. */
  RestResponse send(RestClient.Request request, String address) throws IOException {
    stash.put("request_headers", Map.copyOf(request.headers()));
    answered(client.send(request, address));
    return last;
  }

  /** Keeps an answer. */
  void answered(RestResponse response) {
    last = response;
    stash.put("body", response.body());
  }

  /** A kept value, or what lies at a path of the last answer. */
  Object value(String path) {
    if (path.startsWith("$")) {
      return stash.resolve(path);
    }
    if (last == null) {
      throw new IllegalArgumentException("nothing was called before [" + path + "] is looked at");
    }
    return last.find(path, stash);
  }
}
