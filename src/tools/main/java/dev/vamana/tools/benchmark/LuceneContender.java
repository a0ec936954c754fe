package dev.vamana.tools.benchmark;

import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.index.VectorCodec;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.VectorScorer;
import org.apache.lucene.store.MMapDirectory;

/**
 * Builds and searches an index of any Lucene vectors format: one field, one segment, one thread.
 */
final class LuceneContender implements Contender {
  private static final String FIELD = "vector";

  /**
   * Large enough for any set here, so that one flush writes it; Lucene's limit per thread is 1,945.
   */
  private static final double RAM_BUFFER_MB = 1_900;

  private final String name;
  private final Supplier<KnnVectorsFormat> format;
  private final boolean rerank;

  LuceneContender(String name, Supplier<KnnVectorsFormat> format) {
    this(name, format, false);
  }

  private LuceneContender(String name, Supplier<KnnVectorsFormat> format, boolean rerank) {
    this.name = name;
    this.format = format;
    this.rerank = rerank;
  }

  /** A format that searches by codes: all results of a search get exact scores afterwards. */
  static LuceneContender reranked(String name, Supplier<KnnVectorsFormat> format) {
    return new LuceneContender(name, format, true);
  }

  @Override
  public List<String> names() {
    return List.of(name);
  }

  @Override
  public List<BuiltIndex> build(VectorSet set, Set<String> wanted, Path folder) throws IOException {
    BuildCost cost = BuildCost.of(() -> write(set, format.get(), folder));
    try (Stream<Path> files = Files.list(folder)) {
      return List.of(
          new BuiltIndex(
              name, cost, BuiltIndex.bytesByExtension(files), new Searcher(folder, set, rerank)));
    }
  }

  /** Indexes all vectors on the calling thread, in one flush. */
  private static void write(VectorSet set, KnnVectorsFormat format, Path folder)
      throws IOException {
    IndexWriterConfig config =
        new IndexWriterConfig()
            .setCodec(new VectorCodec(format))
            .setUseCompoundFile(false)
            .setRAMBufferSizeMB(RAM_BUFFER_MB)
            .setMergeScheduler(new SerialMergeScheduler());
    try (MMapDirectory directory = new MMapDirectory(folder);
        IndexWriter writer = new IndexWriter(directory, config)) {
      for (float[] vector : set.base().rows()) {
        Document document = new Document();
        document.add(new KnnFloatVectorField(FIELD, vector, set.similarity()));
        writer.addDocument(document);
      }
      writer.forceMerge(1);
    }
  }

  /** Searches the only segment, where document numbers equal ordinals. */
  private static final class Searcher implements QuerySearcher {
    private final MMapDirectory directory;
    private final DirectoryReader reader;
    private final LeafReader leaf;
    private final AcceptDocs all;
    private final float[][] queries;
    private final boolean rerank;

    Searcher(Path folder, VectorSet set, boolean rerank) throws IOException {
      this.rerank = rerank;
      directory = new MMapDirectory(folder);
      reader = DirectoryReader.open(directory);
      if (reader.leaves().size() != 1 || reader.maxDoc() != set.base().size()) {
        throw new IllegalStateException(
            "expected one segment of "
                + set.base().size()
                + " vectors, found "
                + reader.leaves().size()
                + " of "
                + reader.maxDoc());
      }
      leaf = reader.leaves().get(0).reader();
      all = AcceptDocs.fromLiveDocs(null, leaf.maxDoc());
      queries = set.queries().rows();
    }

    @Override
    public void search(int query, int width, int[] nearest) throws IOException {
      TopDocs found =
          leaf.searchNearestVectors(FIELD, queries[query], width, all, Integer.MAX_VALUE);
      if (rerank) {
        rerank(queries[query], found.scoreDocs);
      }
      for (int i = 0; i < nearest.length; i++) {
        nearest[i] = i < found.scoreDocs.length ? found.scoreDocs[i].doc : -1;
      }
    }

    /** Replaces estimated scores by exact ones. */
    private void rerank(float[] query, ScoreDoc[] hits) throws IOException {
      VectorScorer scorer = leaf.getFloatVectorValues(FIELD).rescorer(query);
      DocIdSetIterator documents = scorer.iterator();
      Arrays.sort(hits, Comparator.comparingInt(hit -> hit.doc));
      for (ScoreDoc hit : hits) {
        documents.advance(hit.doc);
        hit.score = scorer.score();
      }
      Arrays.sort(hits, Comparator.<ScoreDoc>comparingDouble(hit -> hit.score).reversed());
    }

    @Override
    public void close() throws IOException {
      reader.close();
      directory.close();
    }
  }
}
