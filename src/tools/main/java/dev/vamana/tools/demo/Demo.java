package dev.vamana.tools.demo;

import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.figures.Machine;
import dev.vamana.tools.node.NodeHome;
import dev.vamana.tools.node.NodeOptions;
import dev.vamana.tools.node.RunningNode;
import dev.vamana.tools.text.SentenceEncoder;
import java.io.IOException;
import java.io.PrintStream;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.elasticsearch.Build;

/**
 * Compares an opted-in index with the stock one on a real node.
 *
 * <p>The last line on standard output starts with {@code demo:} and carries the figures. The exit
 * status is 0 if recall@10 of our index at num_candidates 100 is at least 0.95, 1 if it is not, and
 * 2 if there is no result.
 */
public final class Demo {

  private static final double WANTED_RECALL = 0.95;
  private static final int BULK_SIZE = 500;

  private final DemoOptions options;
  private final PrintStream out;
  private final Progress progress;

  private Demo(DemoOptions options, PrintStream out) {
    this.options = options;
    this.out = out;
    this.progress = new Progress(out);
  }

  /**
   * Runs the demo and ends this JVM.
   *
   * @param arguments {@code --name=value}; docs/operators/demo.md has the names
   */
  public static void main(String[] arguments) {
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.exit(run(arguments, null, out));
  }

  /**
   * Runs the demo.
   *
   * @param arguments {@code --name=value}; docs/operators/demo.md has the names
   * @param encoder loads a sentence encoder, for the set {@code text}; null if there is none
   * @param out receives all lines
   * @return the exit status: 0, 1 or 2
   */
  public static int run(String[] arguments, EncoderLoader encoder, PrintStream out) {
    System.setProperty("java.awt.headless", "true");
    try {
      return new Demo(DemoOptions.parse(arguments), out).run(encoder) ? 0 : 1;
    } catch (IOException | IllegalArgumentException | IllegalStateException e) {
      if (e.getCause() != null) {
        e.printStackTrace(out);
      }
      out.println("demo: no result: " + e.getMessage());
      return 2;
    }
  }

  /** Loads a sentence encoder. */
  public interface EncoderLoader {

    /** Loads it, which takes seconds. */
    SentenceEncoder load() throws IOException;
  }

  private boolean run(EncoderLoader loader) throws IOException {
    if (Files.isRegularFile(options.plugin()) == false) {
      throw new IllegalArgumentException(
          "there is no plugin zip at " + options.plugin() + ": 'mvn package' makes it");
    }
    checkPort(options.port(), "port");
    if (options.text() == false) {
      return run(DemoSet.of(options, progress), null);
    }
    if (loader == null) {
      throw new IllegalArgumentException(
          "the set 'text' needs a sentence encoder, which Maven adds with -Dset=text");
    }
    checkPort(options.pagePort(), "page.port");
    try (SentenceEncoder encoder = loader.load()) {
      return run(DemoSet.ofText(options, encoder, progress), encoder);
    }
  }

  private boolean run(DemoSet set, SentenceEncoder encoder) throws IOException {
    checkVectors(set.vectors());
    NodeHome home = NodeHome.assemble(Path.of("target/node/demo"), options.plugin());
    try (RunningNode node = startNode(home)) {
      KnnIndex ours = new KnnIndex(node.client(), "demo-vamana", "demo-vamana (this plugin)");
      KnnIndex stock = new KnnIndex(node.client(), "demo-hnsw", "demo-hnsw (stock)");
      int dimension = set.vectors().dimension();
      ours.create(dimension, set.vectors().metric(), Map.of("index.vamana.enabled", "true"));
      stock.create(dimension, set.vectors().metric(), Map.of());
      fill(List.of(ours, stock), set);
      GpuStatus gpu = GpuStatus.of(node.client());
      progress.say("%s", gpu.line());
      List<Row> rows = Row.of(node.client(), ours, stock, gpu, options.plan());
      List<Figures> figures =
          new Measurement(node, set, rows, options.roundSeconds(), progress).run();
      report(figures, set, gpu, home.hasDistanceFunctions());
      String summary =
          ResultTable.summary(figures, set.vectors(), WANTED_RECALL, progress.seconds());
      if (options.keep()) {
        KeptNode kept = new KeptNode(node, ours, set, options.out());
        kept.stayUp(
            encoder == null ? null : new TextPage(set, encoder, rows, options), out, summary);
      } else {
        out.println(summary);
      }
      return figures.get(0).recall() >= WANTED_RECALL;
    } finally {
      home.delete();
    }
  }

  private static void checkPort(int port, String option) throws IOException {
    try (ServerSocket free = new ServerSocket()) {
      free.setReuseAddress(true);
      free.bind(new InetSocketAddress("127.0.0.1", port));
    } catch (BindException e) {
      // the cause would say no more, and print a stack trace
      throw new IllegalArgumentException(
          "port "
              + port
              + " of 127.0.0.1 is in use, perhaps by a node that an earlier demo left running: end"
              + " it, or give another port with -D"
              + option
              + "=<n>");
    }
  }

  private static void checkVectors(VectorSet vectors) {
    if (vectors.base().size() < Measurement.K) {
      throw new IllegalArgumentException(
          "the set has "
              + vectors.base().size()
              + " vectors, at least "
              + Measurement.K
              + " are needed");
    }
  }

  private RunningNode startNode(NodeHome home) throws IOException {
    try (Progress.Running starting =
        progress.during(
            "starting Elasticsearch "
                + Build.current().version()
                + " with the plugin in "
                + home.root())) {
      if (home.hasZstd() == false) {
        progress.say("the system has no libzstd: the node runs without native access");
      }
      home.installDistanceFunctions();
      NodeOptions settings =
          NodeOptions.defaults()
              .withHeap(options.heap())
              .withSetting("http.port", Integer.toString(options.port()))
              .withSetting("vamana.gpu.enabled", options.gpu());
      RunningNode node = RunningNode.start(home, settings);
      progress.say("Elasticsearch answers at %s", node.httpUri());
      return node;
    }
  }

  /** Sends each batch to both indices, so that both meet the same state of node and client. */
  private void fill(List<KnnIndex> indices, DemoSet set) throws IOException {
    float[][] base = set.vectors().base().rows();
    int[] sent = new int[1];
    try (Progress.Running indexing =
        progress.during(
            "indexing " + DemoSet.grouped(base.length) + " vectors into each index",
            () -> sent[0] / (double) base.length)) {
      for (int from = 0; from < base.length; from += BULK_SIZE) {
        int to = Math.min(base.length, from + BULK_SIZE);
        StringBuilder lines = new StringBuilder();
        for (int id = from; id < to; id++) {
          set.appendDocument(lines, id);
        }
        for (KnnIndex index : indices) {
          index.bulk(lines.toString());
        }
        sent[0] = to;
      }
    }
    for (KnnIndex index : indices) {
      try (Progress.Running merging =
          progress.during("refreshing " + index.name() + " and merging it to one segment")) {
        index.finish();
      }
    }
  }

  private void report(List<Figures> figures, DemoSet set, GpuStatus gpu, boolean distances)
      throws IOException {
    int cores = Runtime.getRuntime().availableProcessors();
    String machine =
        String.format(
            Locale.ROOT,
            "CPU: %s; Elasticsearch %s with a heap of %s. %s",
            Machine.describe(),
            Build.current().version(),
            options.heap(),
            gpu.line());
    Files.createDirectories(options.out());
    Path page = options.out().resolve("report.html");
    List<String> notes = ResultTable.notes(cores, distances);
    Files.writeString(page, new Report(set, figures, machine, notes).html());
    out.println();
    out.println(set.description() + "; metric " + set.vectors().metric().label());
    out.println(machine);
    out.println();
    ResultTable.of(figures).lines().forEach(out::println);
    out.println();
    notes.forEach(out::println);
    out.println("report: " + page);
  }
}
