package dev.vamana.elasticsearch;

import dev.vamana.elasticsearch.monitor.stats.MetricsPage;
import dev.vamana.elasticsearch.monitor.stats.MetricsText;
import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.Map;

/** Asks a node for metrics, as Prometheus does. */
final class Scrape {
  /** Headers {@code Accept} of Prometheus 2.42 and 3.5. */
  static final String[] ACCEPT = {
    "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
        + "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
        + "application/openmetrics-text;version=0.0.1;q=0.5,"
        + "text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
        + "text/plain;version=0.0.4;q=0.3,*/*;q=0.2"
  };

  private static final int TRIES = 20;

  private Scrape() {}

  /** Sends a GET request with a header {@code Accept}. */
  static HttpResponse<String> get(NodeClient node, String path, String accept) throws IOException {
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(node.base() + path)).header("Accept", accept).build();
    try {
      return HttpClient.newHttpClient()
          .send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for " + path, e);
    }
  }

  /**
   * Compares all metrics of a node with its JSON. Between two equal answers in JSON nothing has
   * happened, so the metrics in between have the same numbers.
   *
   * @param path of the statistics, without parameters
   * @return the metrics
   */
  static MetricsText assertSameAsJson(NodeClient node, String path) throws IOException {
    Map<String, Object> before = statistics(node, path);
    for (int i = 0; i < TRIES; i++) {
      String text = get(node, path + "?format=openmetrics", ACCEPT[i % ACCEPT.length]).body();
      Map<String, Object> after = statistics(node, path);
      if (before.equals(after)) {
        MetricsText metrics = MetricsText.parse(text);
        MetricsPage.read().assertSame(after, metrics);
        return metrics;
      }
      before = after;
    }
    throw new AssertionError("the node is never quiet: " + before);
  }

  private static Map<String, Object> statistics(NodeClient node, String path) throws IOException {
    Map<String, Object> json = node.get(path);
    ((Map<?, ?>) json.get("nodes"))
        .values()
        .forEach(each -> ((Map<?, ?>) each).keySet().remove("timestamp"));
    return json;
  }
}
