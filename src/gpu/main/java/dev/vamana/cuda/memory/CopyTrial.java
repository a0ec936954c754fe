package dev.vamana.cuda.memory;

import dev.vamana.graph.Adjacency;
import dev.vamana.search.SegmentView;
import dev.vamana.vectors.ArrayCopy;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.Comparator;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Tries on some vectors of a segment whether copies in bytes tell near neighbours apart. A segment
 * whose placement nobody chose gets copies only after this trial. A copy has one step for all
 * components of a vector. So copies lose small differences if one component is much wider than the
 * others in all vectors, or if clusters are narrow beside their distances from each other.
 *
 * <p>The trial compares a vector with its neighbours in the graph, as the last steps of a walk do,
 * however many vectors the segment has. The result depends on the files alone.
 */
final class CopyTrial {

  /** Most vectors that are tried, evenly spread over the segment. */
  static final int VECTORS = 64;

  /** Nearest neighbours of each that count, at most; at most half of the neighbours. */
  static final int NEAREST = 10;

  /**
   * Least share that copies have to keep: text embeddings and images keep 0.997 and 1. Where it is
   * 0.98 or more, walks found as much with copies from a beam of 20 on, and at most 0.02 less with
   * one of 10; where it is 0.7, up to 0.4 less (docs/internals/gpu-memory.md).
   */
  static final double LEAST_KEPT = 0.98;

  private static final float STEPS = 127;
  private static final float LEAST_STEP = 1e-37f;

  private final SegmentShape shape;
  private final VectorSimilarityFunction similarity;
  private final float[] center;
  private final RowReader reader;
  private final MemorySegment row;

  private CopyTrial(SegmentView view, SegmentShape shape, float[] center, Arena arena)
      throws IOException {
    this.shape = shape;
    this.similarity = view.similarity();
    this.center = center;
    this.reader = new RowReader(view.vectorsRegion());
    this.row = arena.allocate(shape.vectorBytes(), Float.BYTES);
  }

  /**
   * Returns how many of the nearest neighbours are among as many nearest by their copies.
   *
   * @param shape the shape of the segment, which has a graph and float vectors
   * @param center the center of the copies
   * @param abort throws when the upload should stop
   * @return a share; 1 if no vector has two neighbours
   * @throws org.apache.lucene.index.CorruptIndexException if a neighbour is none of the segment's
   */
  static double kept(SegmentView view, SegmentShape shape, float[] center, Runnable abort)
      throws IOException {
    Adjacency graph = view.adjacency();
    int count = Math.min(VECTORS, shape.size());
    int[] neighbors = new int[shape.graphStride()];
    int kept = 0;
    int of = 0;
    try (Arena arena = Arena.ofConfined()) {
      CopyTrial trial = new CopyTrial(view, shape, center, arena);
      for (int i = 0; i < count; i++) {
        abort.run();
        int ordinal = (int) ((long) i * shape.size() / count);
        int degree = graph.neighbors(ordinal, neighbors);
        int nearest = Math.min(NEAREST, degree / 2);
        kept += trial.kept(ordinal, neighbors, degree, nearest);
        of += nearest;
      }
    }
    return of == 0 ? 1 : kept / (double) of;
  }

  private int kept(int ordinal, int[] neighbors, int degree, int nearest) throws IOException {
    if (nearest == 0) {
      return 0;
    }
    float[] vector = read(ordinal);
    double[] exact = new double[degree];
    double[] copied = new double[degree];
    Integer[] order = new Integer[degree];
    for (int i = 0; i < degree; i++) {
      float[] neighbor = read(neighbors[i]);
      exact[i] = distance(vector, neighbor);
      copied[i] = distance(vector, copy(neighbor));
      order[i] = i;
    }
    Arrays.sort(order, Comparator.comparingDouble(i -> copied[i]));
    double[] sorted = exact.clone();
    Arrays.sort(sorted);
    // a neighbour as far as the last of the nearest may take its place
    double farthest = sorted[nearest - 1];
    return (int) Arrays.stream(order, 0, nearest).filter(i -> exact[i] <= farthest).count();
  }

  private float[] read(int ordinal) throws IOException {
    float[] vector = new float[shape.dimension()];
    reader.seek((long) ordinal * shape.vectorBytes());
    reader.read(row);
    ArrayCopy.toArray(row, 0, vector, 0, vector.length);
    if (similarity == VectorSimilarityFunction.COSINE) {
      CopyCenter.normalize(vector);
    }
    return vector;
  }

  /** Returns what the copy of a vector stands for, as the kernel {@code convert_byte} makes it. */
  private float[] copy(float[] vector) {
    float largest = 0;
    boolean whole = true;
    for (int d = 0; d < vector.length; d++) {
      float difference = vector[d] - center[d];
      largest = Math.max(largest, Math.abs(difference));
      whole &= difference >= -128 && difference <= 127 && difference == Math.rint(difference);
    }
    float step = whole ? 1 : Math.max(largest / STEPS, LEAST_STEP);
    float[] copy = new float[vector.length];
    for (int d = 0; d < vector.length; d++) {
      float steps = (float) Math.rint((vector[d] - center[d]) / step);
      copy[d] = center[d] + step * steps;
    }
    return copy;
  }

  /** Returns a distance by which nearer vectors have higher scores. */
  private double distance(float[] a, float[] b) {
    boolean squares = similarity == VectorSimilarityFunction.EUCLIDEAN;
    double sum = 0;
    for (int d = 0; d < a.length; d++) {
      double difference = (double) a[d] - b[d];
      sum += squares ? difference * difference : -(double) a[d] * b[d];
    }
    return sum;
  }
}
