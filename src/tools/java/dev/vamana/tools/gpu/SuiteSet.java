package dev.vamana.tools.gpu;

import dev.vamana.cuda.kernel.Limits;
import dev.vamana.tools.datasets.VectorSet;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * A vector set of the suite.
 *
 * @param vectors the vectors, at unit length if the metric is cosine, as Elasticsearch passes them
 *     to a format
 * @param sha256 hash of the files of base and queries, or of a generated set's components
 */
record SuiteSet(VectorSet vectors, String sha256) {

  /** Names of the sets by the short names used in stage names. */
  static final Map<String, String> NAMES =
      Map.ofEntries(
          Map.entry("sift5k", "sift5k-ngt"),
          Map.entry("sift100k", "sift100k-bsds"),
          Map.entry("sift764k", "sift764k-bsds"),
          Map.entry("mnist", "mnist60k-784"),
          Map.entry("glove", "glove100-novels"),
          Map.entry("minilm", "minilm384-docs"),
          Map.entry("clustered", ClusteredSet.NARROW.name()),
          Map.entry("clustered10m", ClusteredSet.NARROW_10M.name()),
          Map.entry("128x1m", ClusteredSet.OF_128.name()),
          Map.entry("768x1m", "embeddings1000k-768"),
          Map.entry("1024x1m", "embeddings1000k-1024"),
          Map.entry("1536x500k", "embeddings500k-1536"));

  /** Whether a set is available: its files are there, or it is generated. */
  static boolean isThere(SuiteOptions options, String shortName) {
    String name = NAMES.get(shortName);
    return ClusteredSet.named(name) != null
        || Files.exists(options.home().resolve("data").resolve(name));
  }

  /** Loads or generates a set. */
  static SuiteSet load(SuiteOptions options, String shortName) throws IOException {
    String name = NAMES.get(shortName);
    if (name == null) {
      throw new IllegalArgumentException(
          "set '" + shortName + "' is unknown, allowed are " + NAMES.keySet());
    }
    ClusteredSet generated = ClusteredSet.named(name);
    if (generated != null) {
      return generated.generate(options.limit());
    }
    Path folder = options.home().resolve("data").resolve(name);
    VectorSet set = VectorSet.load(folder, null, options.limit()).normalized();
    return new SuiteSet(set, hash(folder));
  }

  /**
   * Whether copies in bytes are the vectors, so that such copies are the default. Looks at the
   * first thousand vectors.
   */
  boolean wholeInBytes() {
    return vectors.similarity() == VectorSimilarityFunction.EUCLIDEAN
        && vectors.dimension() <= Limits.MAX_WHOLE_DIMENSION
        && Arrays.stream(vectors.base().rows()).limit(1_000).allMatch(SuiteSet::ofBytes);
  }

  private static boolean ofBytes(float[] vector) {
    for (float component : vector) {
      if ((component >= 0 && component <= 255 && component == Math.rint(component)) == false) {
        return false;
      }
    }
    return true;
  }

  Measurement.Subject subject() {
    return new Measurement.Subject(
        vectors.name(), sha256, vectors.base().size(), vectors.dimension());
  }

  private static String hash(Path folder) throws IOException {
    MessageDigest digest = SourcesHash.sha256();
    List<Path> files;
    try (Stream<Path> found = Files.list(folder)) {
      files =
          found
              .filter(file -> file.getFileName().toString().matches("(base|query)\\..*"))
              .sorted()
              .toList();
    }
    for (Path file : files) {
      try (InputStream in = new DigestInputStream(Files.newInputStream(file), digest)) {
        in.transferTo(java.io.OutputStream.nullOutputStream());
      }
    }
    return HexFormat.of().formatHex(digest.digest());
  }
}
