package dev.vamana.tools.dashboard;

import dev.vamana.tools.arguments.Arguments;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.json.JsonXContent;

/**
 * Draws a dashboard of Grafana with the figures of a Prometheus server: the panels in their places,
 * each with the answers to its queries. The drawing is ours and looks plainer than Grafana's.
 */
public final class DashboardPicture {
  private static final Pattern LABEL = Pattern.compile("\\{\\{(\\w+)\\}\\}");
  private static final Pattern VARIABLE = Pattern.compile("\\$(cluster|node)\\b");

  private static final int WIDTH = 1440;
  private static final int COLUMNS = 24;
  private static final int UNIT_HEIGHT = 28;
  private static final int HEAD = 52;
  private static final int GAP = 4;

  /** Grafana takes four scrapes for its {@code $__rate_interval}. */
  private static final int SCRAPES = 4;

  private final PrometheusServer server;

  private DashboardPicture(PrometheusServer server) {
    this.server = server;
  }

  /**
   * Draws.
   *
   * @param arguments {@code --prometheus=http://host:port --dashboard=FILE --from=SECONDS
   *     --to=SECONDS --scrape=SECONDS --caption=TEXT --out=FILE}
   */
  public static void main(String[] arguments) throws IOException {
    Arguments given =
        Arguments.parse(
            List.of("prometheus", "dashboard", "from", "to", "scrape", "caption", "out"),
            arguments);
    PrometheusServer server =
        new PrometheusServer(
            URI.create(given.required("prometheus", "address of the server")),
            Long.parseLong(given.required("from", "start in seconds since 1970")),
            Long.parseLong(given.required("to", "end in seconds since 1970")),
            given.number("scrape", 1, 3600, 15));
    Path file = Path.of(given.required("dashboard", "file of the dashboard"));
    Map<String, Object> dashboard =
        XContentHelper.convertToMap(JsonXContent.jsonXContent, Files.readString(file), true);
    String svg = new DashboardPicture(server).draw(dashboard, given.text("caption", ""));
    Files.writeString(Path.of(given.required("out", "file of the picture")), svg);
    System.out.println("drawn with the figures of Prometheus " + server.version());
  }

  private String draw(Map<String, Object> dashboard, String caption) throws IOException {
    StringBuilder svg = new StringBuilder();
    int bottom = 0;
    for (Object each : (List<?>) dashboard.get("panels")) {
      Map<?, ?> panel = (Map<?, ?>) each;
      Map<?, ?> place = (Map<?, ?>) panel.get("gridPos");
      int x = number(place, "x") * WIDTH / COLUMNS;
      int y = HEAD + number(place, "y") * UNIT_HEIGHT;
      int width = number(place, "w") * WIDTH / COLUMNS - GAP;
      int height = number(place, "h") * UNIT_HEIGHT - GAP;
      bottom = Math.max(bottom, y + height);
      svg.append(
          String.format(
              Locale.ROOT,
              "<g transform=\"translate(%d %d)\">%s</g>\n",
              x + GAP / 2,
              y,
              panel(panel, width, height)));
    }
    return String.format(
            Locale.ROOT,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" width=\"%d\""
                + " height=\"%d\" font-family=\"sans-serif\" font-size=\"11\" fill=\"#222\">\n"
                + "<rect width=\"100%%\" height=\"100%%\" fill=\"#f4f5f5\"/>\n"
                + "<text x=\"10\" y=\"22\" font-size=\"17\">%s</text>\n"
                + "<text x=\"10\" y=\"42\" font-size=\"12\" fill=\"#555\">%s</text>\n",
            WIDTH,
            bottom + GAP,
            WIDTH,
            bottom + GAP,
            PanelDrawing.escape((String) dashboard.get("title")),
            PanelDrawing.escape(caption))
        + svg
        + "</svg>\n";
  }

  private static int number(Map<?, ?> object, String name) {
    return ((Number) object.get(name)).intValue();
  }

  private String panel(Map<?, ?> panel, int width, int height) throws IOException {
    String title = (String) panel.get("title");
    if (panel.get("type").equals("row")) {
      return "<text x=\"6\" y=\"19\" font-size=\"14\">" + PanelDrawing.escape(title) + "</text>";
    }
    PanelDrawing drawing = new PanelDrawing(title, width, height, server.from(), server.to());
    Map<?, ?> defaults = (Map<?, ?>) ((Map<?, ?>) panel.get("fieldConfig")).get("defaults");
    String unit = defaults.get("unit") instanceof String named ? named : "none";
    if (panel.get("type").equals("heatmap")) {
      drawing.heatmap(buckets(panel), server.step());
      return drawing.svg();
    }
    List<PanelDrawing.Line> lines = lines(panel);
    if (lines.isEmpty()) {
      drawing.noData();
    } else if (panel.get("type").equals("stat")) {
      drawing.value(Unit.format(unit, lines.get(0).values().lastEntry().getValue()));
    } else {
      Object stacking = ((Map<?, ?>) defaults.get("custom")).get("stacking");
      drawing.lines(lines, unit, ((Map<?, ?>) stacking).get("mode").equals("normal"));
    }
    return drawing.svg();
  }

  private List<PanelDrawing.Line> lines(Map<?, ?> panel) throws IOException {
    List<PanelDrawing.Line> lines = new ArrayList<>();
    for (Object each : (List<?>) panel.get("targets")) {
      Map<?, ?> target = (Map<?, ?>) each;
      for (PrometheusServer.Line line : server.lines(expression(target))) {
        Matcher names = LABEL.matcher((String) target.get("legendFormat"));
        String name =
            names.replaceAll(
                match -> Matcher.quoteReplacement(line.labels().getOrDefault(match.group(1), "")));
        lines.add(new PanelDrawing.Line(name, line.values()));
      }
    }
    return lines;
  }

  private NavigableMap<Double, NavigableMap<Long, Double>> buckets(Map<?, ?> panel)
      throws IOException {
    NavigableMap<Double, NavigableMap<Long, Double>> buckets = new TreeMap<>();
    Map<?, ?> target = (Map<?, ?>) ((List<?>) panel.get("targets")).get(0);
    for (PrometheusServer.Line line : server.lines(expression(target))) {
      String le = line.labels().get("le");
      buckets.put(
          le.equals("+Inf") ? Double.POSITIVE_INFINITY : Double.parseDouble(le), line.values());
    }
    return buckets;
  }

  /** The query as Grafana sends it when all clusters and nodes are chosen. */
  private String expression(Map<?, ?> target) {
    String expression =
        ((String) target.get("expr")).replace("$__rate_interval", SCRAPES * server.step() + "s");
    return VARIABLE.matcher(expression).replaceAll(".*");
  }
}
