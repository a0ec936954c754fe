package dev.vamana.codec;

import dev.vamana.graph.Adjacency;
import dev.vamana.work.MemoryBudget;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Graphs do not depend on where their rows lay while they were built. */
public class BuildMemoryTests extends LuceneTestCase {

  private static final int DOCS = 300;

  private float[][] vectors;

  @Override
  public void setUp() throws Exception {
    super.setUp();
    vectors = Segments.clustered(random(), DOCS, 8);
  }

  /** Flushes three segments and merges them; returns the rows of the merged graph. */
  private int[][] build(MemoryBudget budget) throws IOException {
    VamanaVectorsFormat format =
        new VamanaVectorsFormat(
            Segments.SMALL,
            Workers.callingThread(),
            CodebookProvider.NONE,
            new BuildStatistics(),
            budget,
            new CentroidPool());
    try (Directory directory = new ByteBuffersDirectory()) {
      try (IndexWriter writer =
          new IndexWriter(
              directory, Segments.config(format).setMergePolicy(new LogDocMergePolicy()))) {
        for (int i = 0; i < DOCS; i++) {
          // short and long vectors: inner products need a number for each node besides the rows
          writer.addDocument(
              Segments.document(i, vectors[i], VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT));
          if (i % 100 == 99) {
            writer.commit();
          }
        }
        writer.forceMerge(1);
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        Adjacency graph =
            Segments.field(reader.leaves().get(0).reader(), Segments.FLOATS).adjacency();
        int[][] rows = new int[graph.size()][];
        for (int node = 0; node < rows.length; node++) {
          int[] row = new int[graph.maxDegree()];
          rows[node] = Arrays.copyOf(row, graph.neighbors(node, row));
        }
        return rows;
      }
    }
  }

  public void testRowsInFiles() throws IOException {
    MemoryBudget ample = new MemoryBudget(Long.MAX_VALUE);
    MemoryBudget scarce = new MemoryBudget(1_000);
    int[][] expected = build(ample);
    int[][] found = build(scarce);
    assertEquals(0, ample.files());
    assertTrue("files " + scarce.files(), scarce.files() >= 4);
    assertEquals(DOCS, found.length);
    for (int node = 0; node < DOCS; node++) {
      assertArrayEquals("row of " + node, expected[node], found[node]);
    }
    assertEquals(0, ample.used());
    assertEquals(0, scarce.used());
  }
}
