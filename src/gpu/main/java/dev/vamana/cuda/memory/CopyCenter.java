package dev.vamana.cuda.memory;

import dev.vamana.cuda.kernel.Limits;
import dev.vamana.vectors.ArrayCopy;
import dev.vamana.vectors.FileRegion;
import dev.vamana.vectors.FloatVectors;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Chooses the center of a segment's copies in bytes, from which copies hold the differences. It is
 * the median of each component over a sample of the vectors, which no few outliers move; where
 * nearly all vectors are of integers from 0 to 255 it is 128, so that their copies are exact.
 */
final class CopyCenter {

  /** Most vectors of the sample, evenly spread over the segment. */
  static final int SAMPLE = 512;

  private static final float CENTER_OF_BYTES = 128;

  /** Share of the sample's vectors that have to be of integers from 0 to 255. */
  private static final double BYTES_SHARE = 0.9;

  private static final int ROWS_AN_ABORT = 64;

  private CopyCenter() {}

  /**
   * Reads the sample and returns the center.
   *
   * @param vectors the rows of float vectors of a file
   * @param abort throws when the upload should stop
   * @return one float for each component, all finite
   */
  static float[] of(
      FileRegion vectors, SegmentShape shape, VectorSimilarityFunction similarity, Runnable abort)
      throws IOException {
    int dimension = shape.dimension();
    int count = Math.min(SAMPLE, shape.size());
    float[][] columns = new float[dimension][count];
    int[] bytes = {0};
    everyOfSample(
        vectors,
        shape,
        abort,
        (i, vector) -> {
          if (similarity == VectorSimilarityFunction.COSINE) {
            normalize(vector);
          }
          for (int d = 0; d < dimension; d++) {
            columns[d][i] = vector[d];
          }
          bytes[0] += FloatVectors.areBytes(vector) ? 1 : 0;
          return true;
        });
    float[] center = new float[dimension];
    if (bytes[0] >= BYTES_SHARE * count) {
      Arrays.fill(center, CENTER_OF_BYTES);
    } else {
      for (int d = 0; d < dimension; d++) {
        Arrays.sort(columns[d]);
        float median = columns[d][count / 2];
        center[d] = Float.isFinite(median) ? median : 0;
      }
    }
    return center;
  }

  /**
   * Whether all copies in bytes may be the vectors themselves, between which distances are exact.
   * Looks at the vectors of the sample, and no further than to the first that says no.
   *
   * @param vectors the rows of float vectors of a file
   * @param abort throws when the upload should stop
   */
  static boolean whole(
      FileRegion vectors, SegmentShape shape, VectorSimilarityFunction similarity, Runnable abort)
      throws IOException {
    return exactIfWhole(shape, similarity)
        && everyOfSample(vectors, shape, abort, (i, vector) -> FloatVectors.areBytes(vector));
  }

  /** Looks at a vector of the sample. */
  private interface Look {
    /** Returns whether the next one is to be looked at, too. */
    boolean at(int i, float[] vector);
  }

  /**
   * Looks at the vectors of the sample, evenly spread, until one look says no.
   *
   * @param look gets the same array each time
   * @return whether no look said no
   */
  private static boolean everyOfSample(
      FileRegion vectors, SegmentShape shape, Runnable abort, Look look) throws IOException {
    int count = Math.min(SAMPLE, shape.size());
    float[] vector = new float[shape.dimension()];
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment row = arena.allocate(shape.vectorBytes(), Float.BYTES);
      RowReader reader = new RowReader(vectors);
      for (int i = 0; i < count; i++) {
        if (i % ROWS_AN_ABORT == 0) {
          abort.run();
        }
        reader.seek((long) i * shape.size() / count * shape.vectorBytes());
        reader.read(row);
        ArrayCopy.toArray(row, 0, vector, 0, vector.length);
        if (look.at(i, vector) == false) {
          return false;
        }
      }
    }
    return true;
  }

  /** Whether walks on copies know exact distances if the copies are the vectors. */
  static boolean exactIfWhole(SegmentShape shape, VectorSimilarityFunction similarity) {
    return shape.floats()
        && similarity == VectorSimilarityFunction.EUCLIDEAN
        && shape.dimension() <= Limits.MAX_WHOLE_DIMENSION;
  }

  /** Copies for the cosine are of vectors of length 1; one of length 0 stays as it is. */
  static void normalize(float[] vector) {
    double squares = 0;
    for (float component : vector) {
      squares += (double) component * component;
    }
    if (squares > 0) {
      double factor = 1 / Math.sqrt(squares);
      for (int d = 0; d < vector.length; d++) {
        vector[d] = (float) (vector[d] * factor);
      }
    }
  }
}
