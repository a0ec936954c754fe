package dev.vamana.tools.node;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.json.JsonXContent;

/** A small REST client of one node. Thread-safe. */
public final class NodeClient implements AutoCloseable {

  private static final Duration TIMEOUT = Duration.ofMinutes(10);

  private final HttpClient http =
      HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
  private final URI base;
  private final Supplier<String> failureDetails;

  NodeClient(URI base, Supplier<String> failureDetails) {
    this.base = base;
    this.failureDetails = failureDetails;
  }

  /**
   * A node's answer.
   *
   * @param status the HTTP status
   * @param body the body
   * @param warnings texts of the headers {@code Warning}
   */
  public record Response(int status, String body, List<String> warnings) {

    /** Parses the body as a JSON object. */
    public Map<String, Object> json() {
      return XContentHelper.convertToMap(JsonXContent.jsonXContent, body, true);
    }
  }

  /** Sends a GET request; see {@link #request}. */
  public Map<String, Object> get(String path) throws IOException {
    return request("GET", path, null);
  }

  /** Sends a PUT request; see {@link #request}. */
  public Map<String, Object> put(String path, String json) throws IOException {
    return request("PUT", path, json);
  }

  /** Sends a POST request; see {@link #request}. */
  public Map<String, Object> post(String path, String json) throws IOException {
    return request("POST", path, json);
  }

  /** Sends a DELETE request; see {@link #request}. */
  public Map<String, Object> delete(String path) throws IOException {
    return request("DELETE", path, null);
  }

  /**
   * Sends a request and fails unless it succeeds.
   *
   * @param method the HTTP method
   * @param path path and parameters, beginning with a slash
   * @param json the body, or null for none
   * @return the JSON object of the answer
   * @throws IllegalStateException if the status is not 2xx; the message has the answer and the end
   *     of the node's log
   * @throws IOException if the node does not answer
   */
  public Map<String, Object> request(String method, String path, String json) throws IOException {
    return checked(method, path, send(method, path, json, "application/json")).json();
  }

  /** Whether a GET request succeeds. */
  public boolean exists(String path) throws IOException {
    return send("GET", path, null, "application/json").status() == 200;
  }

  /**
   * Changes a setting of the cluster.
   *
   * @param key name of the setting, or a pattern of names
   * @param json the value, such as {@code "\"cpu\""}; {@code null} takes the setting back to what
   *     nodes were started with
   */
  public void set(String key, Object json) throws IOException {
    put("/_cluster/settings", "{\"persistent\": {\"" + key + "\": " + json + "}}");
  }

  /**
   * Sends a bulk request and fails unless every item succeeds.
   *
   * @param path path and parameters, such as {@code /index/_bulk?refresh=true}
   * @param lines the actions and sources, each ending with a newline
   * @throws IllegalStateException if the request or an item fails
   * @throws IOException if the node does not answer
   */
  public void bulk(String path, String lines) throws IOException {
    Response response = send("POST", path, lines, "application/x-ndjson");
    Map<String, Object> json = checked("POST", path, response).json();
    if (Boolean.TRUE.equals(json.get("errors"))) {
      throw new IllegalStateException("bulk items failed: " + start(response.body()));
    }
  }

  private Response checked(String method, String path, Response response) {
    if (response.status() / 100 != 2) {
      throw new IllegalStateException(
          method
              + " "
              + path
              + " answered "
              + response.status()
              + ": "
              + start(response.body())
              + failureDetails.get());
    }
    return response;
  }

  private static String start(String text) {
    return text.length() <= 4000 ? text : text.substring(0, 4000) + "...";
  }

  /**
   * Sends a request and returns the answer, whatever its status.
   *
   * @param method the HTTP method
   * @param path path and parameters, beginning with a slash
   * @param body the body, or null for none
   * @param contentType content type of the body
   * @return status and body
   * @throws IOException if the node does not answer; the message has the end of the node's log
   */
  public Response send(String method, String path, String body, String contentType)
      throws IOException {
    HttpRequest.Builder request = HttpRequest.newBuilder(base.resolve(path)).timeout(TIMEOUT);
    if (body == null) {
      request.method(method, HttpRequest.BodyPublishers.noBody());
    } else {
      request
          .header("Content-Type", contentType)
          .method(method, HttpRequest.BodyPublishers.ofString(body, StandardCharsets.UTF_8));
    }
    try {
      var response = http.send(request.build(), BodyHandlers.ofString(StandardCharsets.UTF_8));
      return new Response(
          response.statusCode(), response.body(), response.headers().allValues("Warning"));
    } catch (IOException e) {
      throw new IOException(method + " " + path + ": " + e + failureDetails.get(), e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for " + method + " " + path, e);
    }
  }

  /**
   * Returns the value at a path in a JSON answer.
   *
   * @param json an object (map) or array (list)
   * @param path keys of objects and indices (Integer) of arrays, from the outside in
   * @return the value, or null if an object on the path lacks the key
   */
  public static Object at(Object json, Object... path) {
    Object value = json;
    for (Object step : path) {
      if (value == null) {
        return null;
      }
      value = step instanceof Integer i ? ((List<?>) value).get(i) : ((Map<?, ?>) value).get(step);
    }
    return value;
  }

  /** The node's address. */
  public URI base() {
    return base;
  }

  /** Closes all connections; pending requests fail. */
  @Override
  public void close() {
    http.shutdownNow();
  }
}
