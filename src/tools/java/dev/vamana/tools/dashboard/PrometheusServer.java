package dev.vamana.tools.dashboard;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.json.JsonXContent;

/**
 * Asks a Prometheus server for values over a period.
 *
 * @param address of the server, {@code http://host:port}
 * @param from start of the period, in seconds since 1970
 * @param to end of the period
 * @param step seconds between two values
 */
record PrometheusServer(URI address, long from, long to, int step) {

  /** A line: its labels, and values by seconds since 1970. */
  record Line(Map<String, String> labels, NavigableMap<Long, Double> values) {}

  /** Evaluates an expression; values that are no numbers are left out. */
  List<Line> lines(String expression) throws IOException {
    String query =
        "query="
            + URLEncoder.encode(expression, StandardCharsets.UTF_8)
            + "&start="
            + from
            + "&end="
            + to
            + "&step="
            + step;
    Map<String, Object> answer = get("/api/v1/query_range?" + query);
    List<Line> lines = new ArrayList<>();
    for (Object each : (List<?>) ((Map<?, ?>) answer.get("data")).get("result")) {
      Map<?, ?> result = (Map<?, ?>) each;
      Map<String, String> labels = new TreeMap<>();
      ((Map<?, ?>) result.get("metric"))
          .forEach((name, value) -> labels.put((String) name, (String) value));
      NavigableMap<Long, Double> values = new TreeMap<>();
      for (Object point : (List<?>) result.get("values")) {
        List<?> pair = (List<?>) point;
        double value = number((String) pair.get(1));
        if (Double.isFinite(value)) {
          values.put(((Number) pair.get(0)).longValue(), value);
        }
      }
      if (values.isEmpty() == false) {
        lines.add(new Line(labels, values));
      }
    }
    return lines;
  }

  private static double number(String text) {
    return switch (text) {
      case "+Inf" -> Double.POSITIVE_INFINITY;
      case "-Inf" -> Double.NEGATIVE_INFINITY;
      default -> Double.parseDouble(text);
    };
  }

  /** The version that the server says it has. */
  String version() throws IOException {
    return (String) ((Map<?, ?>) get("/api/v1/status/buildinfo").get("data")).get("version");
  }

  private Map<String, Object> get(String path) throws IOException {
    HttpRequest request = HttpRequest.newBuilder(address.resolve(path)).build();
    try {
      HttpResponse<String> response =
          HttpClient.newHttpClient()
              .send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
      if (response.statusCode() != 200) {
        throw new IOException(path + " answered " + response.statusCode() + response.body());
      }
      return XContentHelper.convertToMap(JsonXContent.jsonXContent, response.body(), true);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while waiting for " + path, e);
    }
  }
}
