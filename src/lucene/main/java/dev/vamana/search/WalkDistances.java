package dev.vamana.search;

import dev.vamana.pq.Codebook;
import dev.vamana.pq.DistanceTable;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.util.VectorUtil;

/** The distances that a walk compares; smaller is nearer. For one query on one thread. */
interface WalkDistances {

  /** Computes the distances of {@code count} ordinals. */
  void distances(int[] ordinals, float[] distances, int count) throws IOException;

  /**
   * Returns asymmetric distances: sums over a vector's code of the query's table of distances to
   * all centroids (BANG, sections 4.2 and 4.5). Squared Euclidean distance for EUCLIDEAN, otherwise
   * the negated inner product; for COSINE the query is normalized first.
   */
  static WalkDistances quantized(SegmentView segment, QueryVector query) throws IOException {
    Codebook codebook = segment.codebook();
    float[] vector = query.toFloats();
    if (segment.similarity() == VectorSimilarityFunction.COSINE) {
      VectorUtil.l2normalize(vector, false);
    }
    DistanceTable table =
        new DistanceTable(
            codebook,
            segment.similarity() == VectorSimilarityFunction.EUCLIDEAN
                ? DistanceTable.Metric.SQUARED_L2
                : DistanceTable.Metric.NEGATED_INNER_PRODUCT,
            vector);
    FileRegion codes = segment.codesRegion();
    int codeLength = codebook.layout().count();
    byte[] code = new byte[codeLength];
    MemorySegment mapped = codes.segment();
    IndexInput input = mapped == null ? codes.open() : null;
    return (ordinals, distances, count) -> {
      for (int i = 0; i < count; i++) {
        long start = (long) ordinals[i] * codeLength;
        if (mapped != null) {
          try {
            MemorySegment.copy(mapped, ValueLayout.JAVA_BYTE, start, code, 0, codeLength);
          } catch (IllegalStateException e) {
            throw new AlreadyClosedException("the codes were closed: " + codes, e);
          }
        } else {
          input.seek(start);
          input.readBytes(code, 0, codeLength);
        }
        distances[i] = table.distance(code, 0);
      }
    };
  }
}
