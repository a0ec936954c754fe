package dev.vamana.elasticsearch.monitor.stats;

import java.math.BigDecimal;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.elasticsearch.rest.RestChannel;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.rest.action.RestResponseListener;

/**
 * Collects samples and writes them as OpenMetrics 1.0 text. The samples of a metric are written
 * together, metrics in the order of their first samples. Not thread-safe.
 */
public final class OpenMetrics {

  /** The content type of answers. */
  public static final String CONTENT_TYPE =
      "application/openmetrics-text; version=1.0.0; charset=utf-8";

  private final Map<Figures.Figure, StringBuilder> metrics = new LinkedHashMap<>();
  private final Set<String> series = new HashSet<>();

  /**
   * Whether a request asks for this format by its parameter {@code format}. Elasticsearch handles
   * all other values. The header {@code Accept} is not looked at: scrapers name this format in it
   * whatever they ask for.
   */
  public static boolean isAskedFor(RestRequest request) {
    return "openmetrics".equals(request.param("format"));
  }

  /**
   * Adds a sample.
   *
   * @throws IllegalArgumentException if it has the name and labels of another one
   */
  void add(Figures.Figure figure, Map<String, String> labels, BigDecimal value) {
    String described =
        labels.entrySet().stream()
            .map(label -> label.getKey() + "=\"" + escaped(label.getValue()) + '"')
            .collect(Collectors.joining(","));
    String name = figure.sample() + (labels.isEmpty() ? "" : "{" + described + "}");
    if (series.add(name) == false) {
      throw new IllegalArgumentException("sample [" + name + "] is there twice");
    }
    metrics
        .computeIfAbsent(figure, OpenMetrics::description)
        .append(name)
        .append(' ')
        .append(value.stripTrailingZeros().toPlainString())
        .append('\n');
  }

  private static StringBuilder description(Figures.Figure figure) {
    StringBuilder text = new StringBuilder();
    line(text, "TYPE", figure.metric(), figure.type());
    if (figure.baseUnit().isEmpty() == false) {
      line(text, "UNIT", figure.metric(), figure.baseUnit());
    }
    line(text, "HELP", figure.metric(), escaped(figure.help()));
    return text;
  }

  private static void line(StringBuilder text, String what, String name, String value) {
    text.append("# ").append(what).append(' ').append(name).append(' ').append(value).append('\n');
  }

  /** Escapes what would end a text: backslashes, quotes and line feeds. */
  private static String escaped(String text) {
    return text.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
  }

  /** The text, with its last line. */
  String text() {
    return String.join("", metrics.values()) + "# EOF\n";
  }

  /** Makes a listener that answers a request in this format. */
  public static <T> RestResponseListener<T> listener(
      RestChannel channel, Function<T, OpenMetrics> content) {
    return new RestResponseListener<>(channel) {
      @Override
      public RestResponse buildResponse(T response) {
        return new RestResponse(RestStatus.OK, CONTENT_TYPE, content.apply(response).text());
      }
    };
  }
}
