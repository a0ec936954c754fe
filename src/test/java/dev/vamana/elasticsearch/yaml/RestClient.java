package dev.vamana.elasticsearch.yaml;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;

/** Sends requests to the nodes of a cluster. */
final class RestClient implements AutoCloseable {
  private static final Duration TIMEOUT = Duration.ofMinutes(5);

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI node;

  /** A client of the node at {@code http://host:port}. */
  RestClient(URI node) {
    this.node = node;
  }

  /**
   * A request.
   *
   * @param method the HTTP method
   * @param path path and parameters, beginning with a slash
   * @param headers by name, in any case
   * @param body or null for none
   */
  record Request(String method, String path, Map<String, String> headers, byte[] body) {
    Request {
      Map<String, String> copy = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
      copy.putAll(headers);
      headers = copy;
    }
  }

  /** Address of the node. */
  URI base() {
    return node;
  }

  /** Sends a request of our own that has to succeed; returns the body. */
  Object call(String method, String path, String json) throws IOException {
    byte[] body = json == null ? null : json.getBytes(StandardCharsets.UTF_8);
    RestResponse response =
        send(new Request(method, path, Map.of("Content-Type", "application/json"), body), null);
    if (response.failed()) {
      throw new IOException(method + " " + path + " answered " + response.shown());
    }
    return response.body();
  }

  /**
   * Sends a request.
   *
   * @param address of another node as {@code host:port}, or null for the client's own
   */
  RestResponse send(Request request, String address) throws IOException {
    URI base = address == null ? node : URI.create(node.getScheme() + "://" + address);
    HttpRequest.Builder builder =
        HttpRequest.newBuilder(base.resolve(request.path())).timeout(TIMEOUT);
    request.headers().forEach(builder::setHeader);
    builder.method(
        request.method(),
        request.body() == null
            ? HttpRequest.BodyPublishers.noBody()
            : HttpRequest.BodyPublishers.ofByteArray(request.body()));
    try {
      HttpResponse<byte[]> response =
          http.send(builder.build(), HttpResponse.BodyHandlers.ofByteArray());
      return RestResponse.of(
          request.method(),
          response.statusCode(),
          response.headers().firstValue("Content-Type").orElse(null),
          response.body(),
          response.headers().allValues("Warning"));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for " + request.path(), e);
    }
  }

  @Override
  public void close() {
    http.shutdownNow();
  }
}
