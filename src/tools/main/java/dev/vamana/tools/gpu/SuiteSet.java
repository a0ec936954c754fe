package dev.vamana.tools.gpu;

import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.figures.Figures.Subject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StoredField;

/**
 * A vector set of the suite.
 *
 * @param vectors the vectors, at unit length if the metric is cosine, as Elasticsearch passes them
 *     to a format
 */
record SuiteSet(VectorSet vectors) implements SetIndex.Rows {

  /** Stored field with the row of a document. */
  static final String ROW = "row";

  /** In stage names, for the set in the folder of the option {@code set}. */
  static final String GIVEN = "given";

  /** Names of the sets by the short names used in stage names. */
  static final Map<String, String> NAMES =
      Map.ofEntries(
          Map.entry(GIVEN, GIVEN),
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

  /** Loads or generates a set. */
  static SuiteSet load(SuiteOptions options, String shortName) throws IOException {
    String name = NAMES.get(shortName);
    ClusteredSet generated = ClusteredSet.named(name);
    if (generated != null) {
      return generated.generate(options.limit());
    }
    Path folder = name.equals(GIVEN) ? options.set() : options.home().resolve("data").resolve(name);
    return new SuiteSet(VectorSet.load(folder, null, options.limit()).normalized());
  }

  /** Returns the first columns of this set's figures. */
  Subject subject() {
    return new Subject(vectors.name(), size(), vectors.dimension());
  }

  /** Returns the name of an index of these vectors. */
  String index(String format) {
    return vectors.name() + "-" + size() + "-" + format;
  }

  @Override
  public int size() {
    return vectors.base().size();
  }

  @Override
  public Document document(int row) {
    Document document = new Document();
    document.add(
        new KnnFloatVectorField(SetIndex.FIELD, vectors.base().rows()[row], vectors.similarity()));
    document.add(new StoredField(ROW, row));
    return document;
  }
}
