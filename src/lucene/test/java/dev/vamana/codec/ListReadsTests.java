package dev.vamana.codec;

import dev.vamana.ivf.CodeKind;
import java.io.IOException;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FilterDirectory;
import org.apache.lucene.store.FilterIndexInput;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.util.BitSetIterator;
import org.apache.lucene.util.FixedBitSet;

/** Files that are not mapped are read in small parts, however long the lists are. */
public class ListReadsTests extends LuceneTestCase {

  private static final int SIZE = 20_000;
  private static final int DIMENSION = 8;
  private static final int MOST_BYTES = 1 << 15;

  /** Keeps the number of bytes of the largest read of lists. */
  private static final class Recording extends FilterDirectory {
    final AtomicInteger largest = new AtomicInteger();

    Recording(Directory in) {
      super(in);
    }

    @Override
    public IndexInput openInput(String name, IOContext context) throws IOException {
      IndexInput input = super.openInput(name, context);
      return name.endsWith(".vex") ? new Input(input, largest) : input;
    }
  }

  private static final class Input extends FilterIndexInput {
    private final AtomicInteger largest;

    Input(IndexInput in, AtomicInteger largest) {
      super("recording", in);
      this.largest = largest;
    }

    @Override
    public void readBytes(byte[] target, int offset, int length) throws IOException {
      largest.accumulateAndGet(length, Math::max);
      super.readBytes(target, offset, length);
    }

    @Override
    public IndexInput clone() {
      return new Input(in.clone(), largest);
    }

    @Override
    public IndexInput slice(String description, long offset, long length) throws IOException {
      return new Input(in.slice(description, offset, length), largest);
    }
  }

  /** Half of the vectors are equal, so one list has them all. */
  private static float[][] vectors() {
    float[][] vectors = Segments.clustered(random(), SIZE, DIMENSION);
    for (int i = 0; i < SIZE; i += 2) {
      vectors[i] = vectors[0];
    }
    return vectors;
  }

  public void testReads() throws IOException {
    VamanaParameters parameters = Segments.SMALL.withType(IndexType.IVF, CodeKind.RABITQ1);
    float[][] vectors = vectors();
    try (Recording directory = new Recording(new ByteBuffersDirectory())) {
      try (IndexWriter writer = new IndexWriter(directory, Segments.config(parameters))) {
        for (int i = 0; i < SIZE; i++) {
          writer.addDocument(Segments.document(i, vectors[i], VectorSimilarityFunction.EUCLIDEAN));
        }
        writer.flush();
        writer.addDocument(Segments.document(SIZE, vectors[1], VectorSimilarityFunction.EUCLIDEAN));
      }
      directory.largest.set(0);
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        search(reader.leaves().get(0).reader(), vectors[1]);
      }
      assertTrue("a search reads " + directory.largest, directory.largest.get() < MOST_BYTES);
      try (IndexWriter writer =
          new IndexWriter(
              directory, Segments.config(parameters).setMergePolicy(new LogDocMergePolicy()))) {
        writer.forceMerge(1);
        assertEquals(SIZE + 1, writer.getDocStats().numDocs);
      }
      assertTrue("a merge reads " + directory.largest, directory.largest.get() < MOST_BYTES);
    }
  }

  /** Searches among so few that their lists are looked up. */
  private static void search(LeafReader leaf, float[] query) throws IOException {
    FixedBitSet accepted = new FixedBitSet(SIZE);
    for (int i = 0; i < SIZE; i += 20) {
      accepted.set(i);
    }
    int count = accepted.cardinality();
    TopKnnCollector collector = new TopKnnCollector(5, Integer.MAX_VALUE);
    leaf.searchNearestVectors(
        Segments.FLOATS,
        query,
        collector,
        AcceptDocs.fromIteratorSupplier(
            () -> new BitSetIterator(accepted, count), leaf.getLiveDocs(), SIZE));
    assertEquals(5, collector.topDocs().scoreDocs.length);
  }
}
