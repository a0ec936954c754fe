package dev.vamana.vectors;

import java.io.IOException;
import org.apache.lucene.codecs.hnsw.FlatVectorsScorer;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.VectorUtil;
import org.apache.lucene.util.hnsw.RandomVectorScorerSupplier;

/** Makes {@link PairDistances} over the vectors of one field, one for each building thread. */
public final class PairDistanceFactory {

  private final RandomVectorScorerSupplier suppliers;
  private final ScoreToDistance conversion;
  private final int size;

  /**
   * Makes distances between the vectors of a field.
   *
   * @param scorer Lucene's scorer of the field's raw vectors
   * @param similarity the field's similarity
   * @param values the field's vectors, random access by ordinal
   */
  public PairDistanceFactory(
      FlatVectorsScorer scorer, VectorSimilarityFunction similarity, KnnVectorValues values)
      throws IOException {
    this.suppliers = scorer.getRandomVectorScorerSupplier(similarity, values);
    this.size = values.size();
    float[] norms =
        ScoreToDistance.needsNorms(similarity, values.getEncoding())
            ? squaredNorms(values.copy())
            : null;
    this.conversion =
        ScoreToDistance.of(similarity, values.getEncoding(), values.dimension(), norms);
  }

  /** Number of vectors. */
  public int size() {
    return size;
  }

  /** Distances for the calling thread. */
  public synchronized PairDistances create() throws IOException {
    return new PairDistances(suppliers.copy().scorer(), conversion);
  }

  private static float[] squaredNorms(KnnVectorValues values) throws IOException {
    float[] norms = new float[values.size()];
    for (int ordinal = 0; ordinal < norms.length; ordinal++) {
      if (values instanceof FloatVectorValues floats) {
        float[] vector = floats.vectorValue(ordinal);
        norms[ordinal] = VectorUtil.dotProduct(vector, vector);
      } else {
        byte[] vector = ((ByteVectorValues) values).vectorValue(ordinal);
        norms[ordinal] = VectorUtil.dotProduct(vector, vector);
      }
    }
    return norms;
  }
}
