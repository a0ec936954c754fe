package dev.vamana.tools.demo;

import dev.vamana.tools.datasets.ElementType;
import dev.vamana.tools.datasets.GroundTruth;
import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.datasets.VectorTable;
import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;

/**
 * The vectors that the demo indexes and asks for.
 *
 * @param vectors base, queries and exact neighbours
 * @param side side length in pixels if the vectors are square grey images, otherwise 0
 * @param description what they are, one sentence for the reader of the report
 */
record DemoSet(VectorSet vectors, int side, String description) {

  private static final int GENERATED_COUNT = 20_000;
  private static final int GENERATED_SIDE = 28;
  private static final long SEED = 20260901;

  /** Reads the set that the options name, or generates one. */
  static DemoSet of(DemoOptions options, Progress progress) throws IOException {
    return options.set() == null ? generate(options, progress) : load(options, progress);
  }

  private static DemoSet generate(DemoOptions options, Progress progress) {
    int side = options.side() == 0 ? GENERATED_SIDE : options.side();
    Metric metric = options.metric() == null ? Metric.L2 : options.metric();
    int count = Math.min(options.limit(), GENERATED_COUNT);
    Glyphs glyphs = Glyphs.find();
    String description =
        grouped(count)
            + " generated images of "
            + side
            + "×"
            + side
            + " pixels: "
            + glyphs.origin()
            + ", with random affine distortions (seed "
            + SEED
            + ")";
    try (Progress.Running drawing = progress.during("no set given, drawing " + description)) {
      VectorTable base = new GlyphImages(glyphs, side, SEED).draw(count);
      VectorTable queries = new GlyphImages(glyphs, side, SEED + 1).draw(options.queries());
      return new DemoSet(
          VectorSet.of("generated glyphs", metric, base, queries), side, description);
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
      return new DemoSet(vectors, side(vectors, options.side()), description);
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

  /** Bytes of 28×28 are taken for images unasked, being MNIST or one of its kin. */
  private static int side(VectorSet set, int wanted) {
    if (wanted == 0) {
      boolean likeMnist =
          set.dimension() == GENERATED_SIDE * GENERATED_SIDE
              && set.base().storedAs() == ElementType.UINT8;
      return likeMnist ? GENERATED_SIDE : 0;
    }
    if (wanted * wanted != set.dimension()) {
      throw new IllegalArgumentException(
          "side is "
              + wanted
              + ", but vectors of "
              + set.dimension()
              + " dimensions are not images of "
              + wanted
              + "×"
              + wanted);
    }
    return wanted;
  }

  static String grouped(long number) {
    return String.format(Locale.ROOT, "%,d", number);
  }
}
