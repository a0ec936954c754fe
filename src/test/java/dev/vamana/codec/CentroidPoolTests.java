package dev.vamana.codec;

import dev.vamana.ivf.Centroids;
import dev.vamana.ivf.CentroidsId;
import dev.vamana.ivf.Rotation;
import java.util.Map;
import org.apache.lucene.index.DocValuesSkipIndexType;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexOptions;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;

/** A pool keeps the newest centroids of each size, and forgets centroids that nobody used. */
public class CentroidPoolTests extends LuceneTestCase {

  private static final int DIMENSION = 16;
  // of one list, plain and rotated
  private static final int LIST_BYTES = 4 * (DIMENSION + 64);

  private static FieldInfo field(String name, VectorSimilarityFunction similarity) {
    return new FieldInfo(
        name,
        0,
        false,
        false,
        false,
        IndexOptions.NONE,
        DocValuesType.NONE,
        DocValuesSkipIndexType.NONE,
        -1,
        Map.of(),
        0,
        0,
        0,
        DIMENSION,
        VectorEncoding.FLOAT32,
        similarity,
        false,
        false);
  }

  private static FieldInfo field(String name) {
    return field(name, VectorSimilarityFunction.EUCLIDEAN);
  }

  private static CentroidPool.Known known(int lists) {
    Rotation rotation = new Rotation(DIMENSION, 1);
    return new CentroidPool.Known(
        new Centroids(
            CentroidsId.random(),
            1,
            rotation,
            null,
            new float[lists][DIMENSION],
            new float[lists][rotation.padded()],
            0.5f),
        3,
        10 * lists);
  }

  public void testFindsTheMostListsWithinTheLimits() {
    CentroidPool pool = new CentroidPool();
    CentroidPool.Known few = known(10);
    CentroidPool.Known many = known(100);
    pool.add(field("a"), many);
    pool.add(field("a"), few);
    assertSame(many, pool.find(field("a"), 5, 100));
    assertSame(few, pool.find(field("a"), 5, 99));
    assertNull(pool.find(field("a"), 11, 99));
    assertNull(pool.find(field("b"), 1, 1000));
    assertNull(pool.find(field("a", VectorSimilarityFunction.COSINE), 1, 1000));
  }

  public void testNewerReplaceOlderOfTheirSize() {
    CentroidPool pool = new CentroidPool();
    CentroidPool.Known newer = known(65);
    pool.add(field("a"), known(100));
    pool.add(field("a"), newer);
    assertSame(newer, pool.find(field("a"), 1, 1000));
  }

  public void testForgetsWhatWasNotUsed() {
    CentroidPool pool = new CentroidPool(100 * LIST_BYTES);
    CentroidPool.Known used = known(40);
    CentroidPool.Known last = known(50);
    pool.add(field("a"), used);
    pool.add(field("b"), known(40));
    assertSame(used, pool.find(field("a"), 1, 1000));
    pool.add(field("c"), last);
    assertSame(used, pool.find(field("a"), 1, 1000));
    assertNull(pool.find(field("b"), 1, 1000));
    assertSame(last, pool.find(field("c"), 1, 1000));
    pool.add(field("d"), known(101));
    assertNull("too large for the pool", pool.find(field("d"), 1, 1000));
    assertSame(used, pool.find(field("a"), 1, 1000));
  }

  /** Indices do not see each other's centroids; the centroids of all indices share one limit. */
  public void testPartsShareTheLimit() {
    CentroidPool pool = new CentroidPool(100 * LIST_BYTES);
    CentroidPool.Known first = known(60);
    pool.part("one").add(field("a"), first);
    assertNull(pool.part("two").find(field("a"), 1, 1000));
    assertSame(first, pool.part("one").find(field("a"), 1, 1000));
    CentroidPool.Known second = known(60);
    pool.part("two").add(field("a"), second);
    assertSame(second, pool.part("two").find(field("a"), 1, 1000));
    assertNull(pool.part("one").find(field("a"), 1, 1000));
  }

  public void testExpectsMoreOfOtherVectors() {
    assertEquals(3 * 11 / 9.0, known(10).expectedSquare(), 1e-9);
  }
}
