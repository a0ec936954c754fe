package dev.vamana.codec;

import dev.vamana.vectors.PairDistanceFactory;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.MergeState;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;

/** The passes over all vectors that a merge makes before it builds. */
public class MergeOrdinalsTests extends LuceneTestCase {

  /** Vectors of some documents, of which only the documents matter. */
  private static final class Docs extends FloatVectorValues {
    private final int[] docs;
    private final AtomicInteger asked = new AtomicInteger();

    Docs(int[] docs) {
      this.docs = docs;
    }

    @Override
    public int size() {
      return docs.length;
    }

    @Override
    public int dimension() {
      return 2;
    }

    @Override
    public int ordToDoc(int ordinal) {
      asked.incrementAndGet();
      return docs[ordinal];
    }

    @Override
    public float[] vectorValue(int ordinal) {
      asked.incrementAndGet();
      return new float[] {1, ordinal};
    }

    @Override
    public FloatVectorValues copy() {
      return this;
    }
  }

  /** Throws when it is called for the second time. */
  private static AbortCheck second() {
    AtomicInteger calls = new AtomicInteger();
    return () -> {
      if (calls.incrementAndGet() == 2) {
        throw new IOException("aborted");
      }
    };
  }

  private static int[] every(int count, int step) {
    int[] docs = new int[count];
    for (int i = 0; i < count; i++) {
      docs[i] = i * step;
    }
    return docs;
  }

  private static int[] ordinals(KnnVectorValues source, MergeState.DocMap map, Docs merged)
      throws IOException {
    return MergeSources.newOrdinals(source, map, merged, 1_000, AbortCheck.NEVER);
  }

  public void testOrdinalsOfSparseFields() throws IOException {
    Docs source = new Docs(every(100, 2));
    // behind another source, with deletes
    Docs merged = new Docs(every(200, 3));
    MergeState.DocMap moved = doc -> doc % 10 == 0 ? -1 : 150 + 3 * (doc / 2);
    int[] found = ordinals(source, moved, merged);
    for (int i = 0; i < 100; i++) {
      assertEquals(i % 5 == 0 ? -1 : 50 + i, found[i]);
    }
    assertEquals(0, ordinals(new Docs(new int[0]), moved, merged).length);
    // sorted by something else
    List<Integer> shuffled = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      shuffled.add(i);
    }
    Collections.shuffle(shuffled, random());
    found = ordinals(source, doc -> 3 * shuffled.get(doc / 2), merged);
    for (int i = 0; i < 100; i++) {
      assertEquals((int) shuffled.get(i), found[i]);
    }
    expectThrows(IllegalStateException.class, () -> ordinals(source, doc -> 1, merged));
  }

  public void testAbort() throws IOException {
    int count = 100_000;
    for (boolean dense : new boolean[] {true, false}) {
      Docs source = new Docs(every(count, 1));
      IOException e =
          expectThrows(
              IOException.class,
              () ->
                  MergeSources.newOrdinals(
                      source, doc -> doc, source, dense ? count : 2 * count, second()));
      assertEquals("aborted", e.getMessage());
      assertTrue("asked for " + source.asked, source.asked.get() < count);
    }
  }

  /** The lengths of all vectors are read before a graph of inner products is built. */
  public void testAbortWhileLengthsAreRead() {
    int count = 100_000;
    Docs vectors = new Docs(every(count, 1));
    IOException e =
        expectThrows(
            IOException.class,
            () ->
                new PairDistanceFactory(
                    FlatVectorScorerUtil.getLucene99FlatVectorsScorer(),
                    VectorSimilarityFunction.COSINE,
                    vectors,
                    Workers.callingThread(),
                    second()));
    assertEquals("aborted", e.getMessage());
    assertTrue("asked for " + vectors.asked, vectors.asked.get() < count);
  }
}
