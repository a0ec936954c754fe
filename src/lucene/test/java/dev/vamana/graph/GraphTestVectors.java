package dev.vamana.graph;

import dev.vamana.vectors.PairDistanceFactory;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;

/** Vectors on the heap for graph tests. */
final class GraphTestVectors {

  final List<float[]> vectors = new ArrayList<>();
  final int dimension;

  GraphTestVectors(int dimension) {
    this.dimension = dimension;
  }

  static GraphTestVectors gaussian(Random random, int size, int dimension) {
    GraphTestVectors made = new GraphTestVectors(dimension);
    for (int i = 0; i < size; i++) {
      float[] vector = new float[dimension];
      for (int d = 0; d < dimension; d++) {
        vector[d] = (float) random.nextGaussian();
      }
      made.vectors.add(vector);
    }
    return made;
  }

  /** Many vectors with only a few values. */
  static GraphTestVectors repeated(Random random, int size, int dimension, int distinct) {
    GraphTestVectors values = gaussian(random, distinct, dimension);
    GraphTestVectors made = new GraphTestVectors(dimension);
    for (int i = 0; i < size; i++) {
      made.vectors.add(values.vectors.get(random.nextInt(distinct)));
    }
    return made;
  }

  int size() {
    return vectors.size();
  }

  PairDistanceFactory distances() throws IOException {
    return distances(VectorSimilarityFunction.EUCLIDEAN);
  }

  PairDistanceFactory distances(VectorSimilarityFunction similarity) throws IOException {
    return new PairDistanceFactory(
        FlatVectorScorerUtil.getLucene99FlatVectorsScorer(),
        similarity,
        FloatVectorValues.fromFloats(vectors, dimension),
        Workers.callingThread(),
        AbortCheck.NEVER);
  }

  float squaredDistance(int a, int b) {
    float sum = 0;
    for (int d = 0; d < dimension; d++) {
      float difference = vectors.get(a)[d] - vectors.get(b)[d];
      sum += difference * difference;
    }
    return sum;
  }
}
