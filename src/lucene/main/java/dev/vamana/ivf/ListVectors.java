package dev.vamana.ivf;

import dev.vamana.pq.RowSource;
import dev.vamana.pq.StoredRows;
import dev.vamana.vectors.FloatVectors;
import java.io.IOException;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;

/** The vectors of a field as lists see them: floats, of unit length for COSINE. For one thread. */
final class ListVectors {

  private final KnnVectorValues values;
  private final FloatVectors floats;

  ListVectors(KnnVectorValues values, VectorSimilarityFunction similarity) {
    this.values = values;
    this.floats = new FloatVectors(values, similarity);
  }

  int size() {
    return values.size();
  }

  int dimension() {
    return values.dimension();
  }

  void read(int ordinal, float[] target) throws IOException {
    floats.read(ordinal, target);
  }

  /** Returns rows for several threads, each of the ordinal at its place. */
  RowSource rows(int[] ordinals) {
    return () -> {
      synchronized (values) {
        return new StoredRows(values.copy(), floats.similarity(), ordinals);
      }
    };
  }

  /** Returns a view for another thread. Any thread may call it. */
  ListVectors copy() throws IOException {
    synchronized (values) {
      return new ListVectors(values.copy(), floats.similarity());
    }
  }
}
