package dev.vamana.tools.demo;

import dev.vamana.tools.arguments.Arguments;
import dev.vamana.tools.datasets.Metric;
import java.nio.file.Path;

/**
 * Options of the demo.
 *
 * @param plugin the plugin's zip
 * @param set folder of vectors, null to generate images or for text
 * @param text whether the vectors encode passages of text
 * @param metric null for the set's metric
 * @param limit base vectors to use at most
 * @param queries queries to use at most
 * @param keep whether the node stays up afterwards
 * @param port the node's HTTP port, 0 for a free one
 * @param pagePort port of the page that answers questions
 * @param javadoc folder of the Javadoc artefacts that passages are taken from
 * @param gpu value of {@code vamana.gpu.enabled}
 * @param plan value of {@code vamana.gpu.plan} for the row with the GPU
 * @param roundSeconds how long a row is asked in each round
 * @param heap the node's heap, such as {@code 1g}
 * @param out folder that receives the report
 */
record DemoOptions(
    Path plugin,
    Path set,
    boolean text,
    Metric metric,
    int limit,
    int queries,
    boolean keep,
    int port,
    int pagePort,
    Path javadoc,
    String gpu,
    String plan,
    double roundSeconds,
    String heap,
    Path out) {

  /** Where a node that stays up listens unless another port is given. */
  static final int KEEP_PORT = 9253;

  /** Where the page that answers questions listens unless another port is given. */
  static final int PAGE_PORT = 9254;

  private static final String TEXT = "text";

  /**
   * Reads arguments of the form {@code --name=value}; an empty value counts as absent.
   *
   * @throws IllegalArgumentException if one is unknown, malformed or missing
   */
  static DemoOptions parse(String... arguments) {
    Arguments given = Arguments.parse(arguments);
    String set = given.text("set", null);
    String metric = given.text("metric", null);
    boolean text = TEXT.equals(set);
    if (text && metric != null && Metric.of(metric) != Metric.COSINE) {
      throw new IllegalArgumentException(
          "metric is '" + metric + "', allowed with the set 'text' is cosine");
    }
    // Whoever asks for text wants to ask questions.
    boolean keep = given.flag("keep", text);
    return given.checked(
        new DemoOptions(
            Path.of(given.required("plugin", "the plugin's zip")),
            set == null || text ? null : Path.of(set),
            text,
            metric == null ? null : Metric.of(metric),
            given.number("limit", 1, Integer.MAX_VALUE, Integer.MAX_VALUE),
            given.number("queries", 1, Integer.MAX_VALUE, 500),
            keep,
            given.number("port", 1, 65535, keep ? KEEP_PORT : 0),
            given.number("page.port", 1, 65535, PAGE_PORT),
            Path.of(given.text("javadoc", "target/demo-text/javadoc")),
            given.text("gpu", "auto"),
            given.text("plan", "auto"),
            given.positive("seconds", 3600, 1.2),
            given.text("heap", "1g"),
            Path.of(given.text("out", "target/demo"))));
  }
}
