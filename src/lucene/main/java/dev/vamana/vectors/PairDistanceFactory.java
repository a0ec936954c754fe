package dev.vamana.vectors;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import org.apache.lucene.codecs.hnsw.FlatVectorsScorer;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.VectorUtil;
import org.apache.lucene.util.hnsw.RandomVectorScorerSupplier;
import org.apache.lucene.util.hnsw.UpdateableRandomVectorScorer;

/** Makes {@link PairDistances} over the vectors of one field, one for each building thread. */
public final class PairDistanceFactory {

  // with a smaller squared norm, Lucene's score keeps too few digits of the inner product
  private static final float MIN_SQUARED_NORM = 0.01f;

  private final RandomVectorScorerSupplier suppliers;
  private final ScoreToDistance conversion;
  private final float[] inverseNorms;
  private final int size;
  private final RawComparison raw;
  private final KnnVectorValues values;
  // ordinals of the vectors, or null for all
  private final int[] members;

  private PairDistanceFactory(PairDistanceFactory all, int[] members) {
    this.suppliers = all.suppliers;
    this.conversion = all.conversion;
    this.inverseNorms = all.inverseNorms;
    this.raw = all.raw;
    this.values = all.values;
    this.size = members.length;
    this.members = members;
  }

  /**
   * Chooses the distance for a field. EUCLIDEAN, and DOT_PRODUCT of floats, use squared Euclidean
   * distances; COSINE uses the squared Euclidean distance between the unit vectors;
   * MAXIMUM_INNER_PRODUCT, and DOT_PRODUCT of bytes, use negated inner products.
   *
   * @param scorer Lucene's scorer of the field's raw vectors
   * @param similarity the field's similarity
   * @param values the field's vectors, random access by ordinal
   * @param workers threads that read all vectors, where their lengths are needed
   * @param abort called regularly meanwhile
   */
  public PairDistanceFactory(
      FlatVectorsScorer scorer,
      VectorSimilarityFunction similarity,
      KnnVectorValues values,
      Workers workers,
      AbortCheck abort)
      throws IOException {
    this.size = values.size();
    this.members = null;
    this.values = values;
    this.raw = RawComparison.neededFor(values.copy(), similarity);
    VectorSimilarityFunction compared = similarity;
    float[] inverse = null;
    boolean unitLength =
        similarity == VectorSimilarityFunction.DOT_PRODUCT
            && values.getEncoding() == VectorEncoding.FLOAT32;
    if (similarity == VectorSimilarityFunction.EUCLIDEAN) {
      this.conversion = ScoreToDistance.ofEuclidean();
    } else if (unitLength) {
      this.conversion = ScoreToDistance.ofCosine();
    } else if (similarity != VectorSimilarityFunction.COSINE) {
      compared = VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT;
      this.conversion = ScoreToDistance.ofInnerProduct();
      inverse = inverseRoots(squaredNorms(values, workers, abort));
    } else {
      float[] norms = squaredNorms(values, workers, abort);
      if (smallestPositive(norms) >= MIN_SQUARED_NORM) {
        // faster than Lucene's cosine, which sums the norms of both vectors again for every
        // pair
        compared = VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT;
        this.conversion = ScoreToDistance.ofDirections(inverseRoots(norms));
      } else {
        this.conversion = ScoreToDistance.ofCosine();
      }
    }
    this.inverseNorms = inverse;
    this.suppliers = scorer.getRandomVectorScorerSupplier(compared, values);
  }

  /** Number of vectors. */
  public int size() {
    return size;
  }

  /** Whether scores are too coarse for the field, see {@link RawComparison}. */
  public boolean raw() {
    return raw != null;
  }

  /**
   * Returns distances between some of the vectors, which are numbered as in the array.
   *
   * @param ordinals of the vectors
   */
  public PairDistanceFactory among(int[] ordinals) {
    return new PairDistanceFactory(this, ordinals);
  }

  /** Makes distances for the calling thread. */
  public PairDistances create() throws IOException {
    PairDistances all;
    // factories of subsets share it
    synchronized (suppliers) {
      all =
          raw == null
              ? new PairDistances(suppliers.copy().scorer(), conversion, inverseNorms)
              : new PairDistances(
                  new RawPairs((FloatVectorValues) values.copy(), raw),
                  ScoreToDistance.none(),
                  inverseNorms);
    }
    return members == null ? all : all.among(members);
  }

  /** Returns raw distances of stored vectors instead of scores. */
  private static final class RawPairs implements UpdateableRandomVectorScorer {
    private final FloatVectorValues values;
    private final RawComparison comparison;
    private float[] pivot;

    RawPairs(FloatVectorValues values, RawComparison comparison) {
      this.values = values;
      this.comparison = comparison;
    }

    @Override
    public void setScoringOrdinal(int ordinal) throws IOException {
      pivot = values.vectorValue(ordinal).clone();
    }

    @Override
    public float score(int ordinal) throws IOException {
      return comparison.distance(pivot, values.vectorValue(ordinal));
    }

    @Override
    public int maxOrd() {
      return values.size();
    }
  }

  private static float[] squaredNorms(KnnVectorValues values, Workers workers, AbortCheck abort)
      throws IOException {
    float[] norms = new float[values.size()];
    workers.forEachRange(
        0,
        norms.length,
        () -> {
          KnnVectorValues own = copy(values);
          return (from, to) -> {
            for (int ordinal = from; ordinal < to; ordinal++) {
              norms[ordinal] = squaredNorm(own, ordinal);
            }
          };
        },
        abort);
    return norms;
  }

  private static KnnVectorValues copy(KnnVectorValues values) throws IOException {
    synchronized (values) {
      return values.copy();
    }
  }

  private static float squaredNorm(KnnVectorValues values, int ordinal) throws IOException {
    if (values instanceof FloatVectorValues floats) {
      float[] vector = floats.vectorValue(ordinal);
      return VectorUtil.dotProduct(vector, vector);
    }
    byte[] vector = ((ByteVectorValues) values).vectorValue(ordinal);
    return VectorUtil.dotProduct(vector, vector);
  }

  private static float smallestPositive(float[] values) {
    float smallest = Float.POSITIVE_INFINITY;
    for (float value : values) {
      if (value > 0f) {
        smallest = Math.min(smallest, value);
      }
    }
    return smallest;
  }

  private static float[] inverseRoots(float[] values) {
    for (int i = 0; i < values.length; i++) {
      values[i] = values[i] > 0f ? (float) (1 / Math.sqrt(values[i])) : 0f;
    }
    return values;
  }
}
