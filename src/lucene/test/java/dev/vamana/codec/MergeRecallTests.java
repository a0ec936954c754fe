package dev.vamana.codec;

import java.io.IOException;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.util.VectorUtil;

/** Graphs that merges mended and grew find as much as graphs built anew. */
public class MergeRecallTests extends LuceneTestCase {

  private static final VectorSimilarityFunction EUCLIDEAN = VectorSimilarityFunction.EUCLIDEAN;
  private static final int DIMENSION = 16;

  private final Segments.Messages messages = new Segments.Messages();

  private IndexWriterConfig config(VamanaParameters parameters) {
    return Segments.config(parameters)
        .setMergePolicy(new LogDocMergePolicy())
        .setInfoStream(messages);
  }

  public void testDeletesAreConsolidated() throws IOException {
    int size = 3000;
    float[][] vectors = Segments.clustered(random(), size, DIMENSION);
    VamanaParameters parameters =
        VamanaParameters.DEFAULT.withGraph(16, 48, 1.2f).withThresholds(0, Integer.MAX_VALUE);
    Set<Integer> deleted = new HashSet<>();
    while (deleted.size() < size * 3 / 10) {
      deleted.add(random().nextInt(size));
    }
    float[][] queries = near(vectors, 200);
    double merged;
    double fresh;
    try (Directory directory = newDirectory();
        Directory second = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, config(parameters))) {
        add(writer, vectors, 0, size * 3 / 4);
        writer.flush();
        add(writer, vectors, size * 3 / 4, size);
        writer.flush();
        for (int id : deleted) {
          writer.deleteDocuments(new Term(Segments.ID, Integer.toString(id)));
        }
        messages.take();
        writer.forceMerge(1);
      }
      long kept = deleted.stream().filter(id -> id < size * 3 / 4).count();
      expectLine(messages.take(), "built graph of floats: " + (size * 3 / 4 - kept) + " nodes");
      merged = recall(directory, queries, size - deleted.size());
      float[][] remaining =
          IntStream.range(0, size)
              .filter(i -> deleted.contains(i) == false)
              .mapToObj(i -> vectors[i])
              .toArray(float[][]::new);
      fresh = recall(mergedAnew(second, remaining, parameters), queries, remaining.length);
    }
    assertTrue(merged + " after deletes, " + fresh + " fresh", merged >= fresh - 0.01);
    assertTrue("fresh " + fresh, fresh > 0.9);
  }

  public void testMergingAgainAndAgainKeepsRecall() throws IOException {
    int size = 2000;
    float[][] vectors = Segments.clustered(random(), size, DIMENSION);
    float[][] queries = near(vectors, 1_000);
    VamanaParameters parameters =
        Segments.SMALL.withGraph(32, 64, 1.2f).withThresholds(0, Integer.MAX_VALUE);
    double merged;
    double fresh;
    try (Directory directory = newDirectory();
        Directory second = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, config(parameters))) {
        for (int from = 0; from < size; from += 200) {
          add(writer, vectors, from, from + 200);
          writer.forceMerge(1);
        }
      }
      merged = recall(directory, queries, size);
      fresh = recall(mergedAnew(second, vectors, parameters), queries, size);
    }
    assertTrue(merged + " after ten merges, " + fresh + " fresh", merged >= fresh - 0.03);
  }

  /** Every merge repairs the rows of deleted neighbours, and joins a small graph to a large one. */
  public void testManyMergesWithDeletesKeepRecall() throws IOException {
    int size = 1_000;
    int changed = size / 100;
    int merges = 100;
    float[][] vectors = Segments.clustered(random(), size + merges * changed, DIMENSION);
    VamanaParameters parameters =
        Segments.SMALL.withGraph(32, 64, 1.2f).withThresholds(0, Integer.MAX_VALUE);
    float[][] last = Arrays.copyOfRange(vectors, merges * changed, vectors.length);
    float[][] queries = near(last, 2_000);
    double merged;
    double fresh;
    try (Directory directory = newDirectory();
        Directory second = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, config(parameters))) {
        add(writer, vectors, 0, size);
        for (int merge = 0; merge < merges; merge++) {
          for (int i = 0; i < changed; i++) {
            int oldest = merge * changed + i;
            writer.deleteDocuments(new Term(Segments.ID, Integer.toString(oldest)));
          }
          add(writer, vectors, size + merge * changed, size + (merge + 1) * changed);
          writer.forceMerge(1);
        }
      }
      merged = recall(directory, queries, size);
      fresh = recall(mergedAnew(second, last, parameters), queries, size);
    }
    assertTrue(merged + " after 100 merges, " + fresh + " fresh", merged >= fresh - 0.005);
  }

  /** The graphs of all sources are joined, with a recall like that of a graph built at once. */
  public void testGraphsAreJoined() throws IOException {
    int size = 3_000;
    int sources = 10;
    float[][] vectors = Segments.clustered(random(), size, DIMENSION);
    float[][] queries = near(vectors, 1_000);
    VamanaParameters parameters =
        Segments.SMALL.withGraph(32, 64, 1.2f).withThresholds(0, Integer.MAX_VALUE);
    double merged;
    double fresh;
    try (Directory directory = newDirectory();
        Directory second = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, config(parameters))) {
        for (int source = 0; source < sources; source++) {
          add(writer, vectors, source * size / sources, (source + 1) * size / sources);
          writer.flush();
        }
        writer.forceMerge(1);
      }
      merged = recall(directory, queries, size);
      fresh = recall(mergedAnew(second, vectors, parameters), queries, size);
    }
    assertTrue(merged + " joined, " + fresh + " fresh", merged >= fresh - 0.02);
  }

  /** An index whose graph a merge of segments without graphs built. */
  private Directory mergedAnew(Directory directory, float[][] vectors, VamanaParameters parameters)
      throws IOException {
    int most = Integer.MAX_VALUE;
    try (IndexWriter writer =
        new IndexWriter(directory, config(parameters.withThresholds(most, most)))) {
      add(writer, vectors, 0, vectors.length / 2);
      writer.flush();
      add(writer, vectors, vectors.length / 2, vectors.length);
    }
    messages.take();
    try (IndexWriter writer = new IndexWriter(directory, config(parameters))) {
      writer.forceMerge(1);
    }
    expectLine(
        messages.take(), "built graph of floats: 0 nodes reused, " + vectors.length + " inserted");
    return directory;
  }

  /** Queries from where the vectors are. */
  private static float[][] near(float[][] vectors, int count) {
    float[][] queries = new float[count][];
    for (int q = 0; q < count; q++) {
      queries[q] = vectors[random().nextInt(vectors.length)].clone();
      for (int d = 0; d < queries[q].length; d++) {
        queries[q][d] += (float) random().nextGaussian() * 0.5f;
      }
    }
    return queries;
  }

  private static void add(IndexWriter writer, float[][] vectors, int from, int to)
      throws IOException {
    for (int i = from; i < to; i++) {
      writer.addDocument(Segments.document(i, vectors[i], EUCLIDEAN));
    }
  }

  private static void expectLine(List<String> lines, String start) {
    assertTrue(
        "no \"" + start + "\" in " + lines,
        lines.stream().anyMatch(line -> line.startsWith(start)));
  }

  /** Recall@10 of walks with k = 10. */
  private static double recall(Directory directory, float[][] queries, int expectedSize)
      throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      LeafReader leaf = reader.leaves().get(0).reader();
      FloatVectorValues values = leaf.getFloatVectorValues(Segments.FLOATS);
      assertEquals(expectedSize, values.size());
      int hits = 0;
      for (float[] query : queries) {
        float[] distances = new float[values.size()];
        for (int ordinal = 0; ordinal < distances.length; ordinal++) {
          distances[ordinal] = VectorUtil.squareDistance(query, values.vectorValue(ordinal));
        }
        Arrays.sort(distances);
        float tenth = EUCLIDEAN.compare(query, query) / (1 + distances[9]);
        for (ScoreDoc hit :
            leaf.searchNearestVectors(
                    Segments.FLOATS,
                    query,
                    10,
                    AcceptDocs.fromLiveDocs(null, leaf.maxDoc()),
                    Integer.MAX_VALUE)
                .scoreDocs) {
          hits += hit.score >= tenth * (1 - 1e-6f) ? 1 : 0;
        }
      }
      return hits / (10.0 * queries.length);
    }
  }
}
