package dev.vamana.tools.demo;

import dev.vamana.tools.datasets.ElementType;
import dev.vamana.tools.datasets.GroundTruth;
import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.datasets.VectorTable;
import dev.vamana.tools.text.JavadocFolder;
import dev.vamana.tools.text.SentenceEncoder;
import dev.vamana.tools.text.TextSet;
import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;

/**
 * The vectors that the demo indexes and asks for.
 *
 * @param vectors base, queries and exact neighbours
 * @param images whether the vectors are grey images of 28×28 pixels
 * @param description what they are, one sentence for the reader of the report
 * @param text the passages and questions that the vectors encode, null if they encode none
 */
record DemoSet(VectorSet vectors, boolean images, String description, TextSet text) {

  private static final int GENERATED_COUNT = 20_000;
  private static final int MOST_PASSAGES = 22_000;
  private static final long SEED = 20260901;

  /** Reads the set that the options name, or generates one. */
  static DemoSet of(DemoOptions options, Progress progress) throws IOException {
    return options.set() == null ? generate(options, progress) : load(options, progress);
  }

  /** Passages of Javadoc artefacts, encoded; queries are questions in words. */
  static DemoSet ofText(DemoOptions options, SentenceEncoder encoder, Progress progress)
      throws IOException {
    int limit = Math.min(options.limit(), MOST_PASSAGES);
    double[] share = {Double.NaN};
    TextSet text;
    try (Progress.Running encoding =
        progress.during(
            "encoding passages of the Javadoc in "
                + options.javadoc()
                + " with "
                + encoder.name()
                + " (kept in target/demo-text for the next time)",
            () -> share[0])) {
      text =
          TextSet.of(
              new JavadocFolder(options.javadoc()),
              encoder,
              options.javadoc().resolveSibling("embeddings"),
              limit,
              options.queries(),
              (done, all) -> share[0] = done / (double) all);
    }
    try (Progress.Running truth = progress.during("finding the exact neighbours")) {
      VectorSet vectors =
          VectorSet.of(
              "javadoc", Metric.COSINE, table(text.vectors()), table(text.questionVectors()));
      String description =
          grouped(text.passages().size())
              + " passages of the Javadoc of Lucene and Elasticsearch, encoded with "
              + encoder.name()
              + "; the queries are questions made of "
              + grouped(text.questions().size())
              + " names of methods and fields";
      return new DemoSet(vectors, false, description, text);
    }
  }

  private static VectorTable table(float[][] rows) {
    return new VectorTable(ElementType.FLOAT32, rows[0].length, rows);
  }

  /** Appends the bulk lines of one vector of the base, with its passage if it has one. */
  void appendDocument(StringBuilder lines, int id) throws IOException {
    float[] vector = vectors.base().rows()[id];
    if (text == null) {
      KnnIndex.appendDocument(lines, id, vector);
    } else {
      KnnIndex.appendDocument(lines, id, vector, text.passages().get(id));
    }
  }

  private static DemoSet generate(DemoOptions options, Progress progress) {
    Metric metric = options.metric() == null ? Metric.L2 : options.metric();
    int count = Math.min(options.limit(), GENERATED_COUNT);
    Glyphs glyphs = Glyphs.find();
    String description =
        grouped(count)
            + " generated images of 28×28 pixels: "
            + glyphs.origin()
            + ", with random affine distortions (seed "
            + SEED
            + ")";
    try (Progress.Running drawing = progress.during("no set given, drawing " + description)) {
      VectorTable base = new GlyphImages(glyphs, SEED).draw(count);
      VectorTable queries = new GlyphImages(glyphs, SEED + 1).draw(options.queries());
      return new DemoSet(
          VectorSet.of("generated glyphs", metric, base, queries), true, description, null);
    }
  }

  private static DemoSet load(DemoOptions options, Progress progress) throws IOException {
    try (Progress.Running reading = progress.during("reading vectors in " + options.set())) {
      VectorSet all = VectorSet.load(options.set(), options.metric(), options.limit());
      VectorSet vectors = firstQueries(all, options.queries());
      String description =
          grouped(vectors.base().size())
              + " vectors of "
              + vectors.dimension()
              + " dimensions from the set "
              + vectors.name();
      return new DemoSet(vectors, areImages(vectors), description, null);
    }
  }

  private static VectorSet firstQueries(VectorSet set, int most) {
    if (set.queries().size() <= most) {
      return set;
    }
    VectorTable queries = set.queries();
    GroundTruth truth = set.groundTruth();
    return new VectorSet(
        set.name(),
        set.metric(),
        set.similarity(),
        set.base(),
        new VectorTable(
            queries.storedAs(), queries.dimension(), Arrays.copyOf(queries.rows(), most)),
        new GroundTruth(
            Arrays.copyOf(truth.ordinals(), most), Arrays.copyOf(truth.distances(), most)));
  }

  /** Bytes of 28×28 are taken for images, being MNIST or one of its kin. */
  private static boolean areImages(VectorSet set) {
    return set.dimension() == GlyphImages.SIDE * GlyphImages.SIDE
        && set.base().storedAs() == ElementType.UINT8;
  }

  static String grouped(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }
}
