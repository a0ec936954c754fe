package dev.vamana.codec;

import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.tests.store.MockDirectoryWrapper;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.util.NamedThreadFactory;

/** Flushes and merges that build with several threads. */
public class ParallelBuildTests extends LuceneTestCase {

  private static final int DIMENSION = 12;

  private ExecutorService pool;

  @Override
  public void setUp() throws Exception {
    super.setUp();
    pool = Executors.newFixedThreadPool(3, new NamedThreadFactory("build"));
  }

  @Override
  public void tearDown() throws Exception {
    pool.shutdown();
    assertTrue(pool.awaitTermination(1, TimeUnit.MINUTES));
    super.tearDown();
  }

  private IndexWriterConfig config() {
    KnnVectorsFormat format = new VamanaVectorsFormat(Segments.SMALL, new Workers(pool, 4));
    return Segments.config(format).setMergePolicy(new LogDocMergePolicy());
  }

  private static void add(IndexWriter writer, float[][] vectors) throws IOException {
    for (int i = 0; i < vectors.length; i++) {
      writer.addDocument(Segments.document(i, vectors[i]));
    }
  }

  /** Rows hold what rows may hold, and every ordinal has the codes that the codebook gives. */
  public void testGraphAndCodesAreWhole() throws IOException {
    float[][] vectors = Segments.clustered(random(), 3000, DIMENSION);
    try (Directory directory = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, config())) {
        add(writer, vectors);
        writer.flush();
        add(writer, vectors);
        writer.forceMerge(1);
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        SegmentField field = Segments.field(reader.leaves().get(0).reader(), Segments.FLOATS);
        int size = 2 * vectors.length;
        assertEquals(size, field.size());
        int[] row = new int[field.adjacency().maxDegree()];
        for (int ordinal = 0; ordinal < size; ordinal++) {
          int degree = field.adjacency().neighbors(ordinal, row);
          assertTrue(degree > 0 && degree <= field.maxDegree());
          for (int i = 0; i < degree; i++) {
            assertNotEquals(ordinal, row[i]);
          }
        }
        byte[] expected = new byte[field.codebook().layout().count()];
        byte[] code = new byte[expected.length];
        IndexInput codes = field.codesRegion().open();
        for (int ordinal = 0; ordinal < size; ordinal++) {
          codes.readBytes(code, 0, code.length);
          field.codebook().encode(vectors[ordinal % vectors.length], expected, 0);
          assertArrayEquals("ordinal " + ordinal, expected, code);
        }
      }
    }
  }

  /** A failing read on any of the threads ends the merge with that failure and leaves nothing. */
  public void testFailingReadsOnBuildThreads() throws IOException {
    float[][] vectors = Segments.clustered(random(), 300, DIMENSION);
    for (int round = 0; round < (TEST_NIGHTLY ? 5 : 2); round++) {
      try (MockDirectoryWrapper directory = newMockDirectory()) {
        IndexWriter writer = new IndexWriter(directory, config());
        try {
          add(writer, vectors);
          writer.commit();
          add(writer, vectors);
          writer.flush();
          directory.setRandomIOExceptionRate(0.01);
          expectThrows(
              IOException.class,
              () -> {
                for (int merge = 0; merge < 100; merge++) {
                  add(writer, vectors);
                  writer.forceMerge(1);
                }
              });
        } finally {
          directory.setRandomIOExceptionRate(0);
          writer.rollback();
        }
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
          assertEquals(vectors.length, reader.numDocs());
        }
      }
    }
  }
}
