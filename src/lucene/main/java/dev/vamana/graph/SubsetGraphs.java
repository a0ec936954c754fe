package dev.vamana.graph;

import dev.vamana.vectors.PairDistanceFactory;
import dev.vamana.vectors.PairDistances;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import dev.vamana.work.Workers;
import java.io.Closeable;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.store.IndexOutput;

/**
 * Builds graphs over disjoint sets of a field's vectors. Their rows lie in one array by ordinal, as
 * {@link StoredAdjacency} reads it, so that a walk which starts in a set stays there.
 */
public final class SubsetGraphs implements Closeable {

  private static final ValueLayout.OfInt INT =
      ValueLayout.JAVA_INT.withOrder(ByteOrder.LITTLE_ENDIAN);

  // smaller sets are built side by side, one by each thread
  private static final int LARGE = 1 << 14;

  // vectors among which an entry point is chosen
  private static final int SAMPLE = 48;

  private static final int BYTES_TOGETHER = 1 << 20;

  private final PairDistanceFactory distances;
  private final BuildParameters parameters;
  private final Workers workers;
  private final MemoryBudget memory;
  private final AbortCheck abort;
  private final int stride;
  private final RowMemory rows;
  private final int[] entryPoints;
  private final LongAdder edges = new LongAdder();

  /**
   * Builds the graphs.
   *
   * @param distances distances between all vectors of the field
   * @param subsets the ordinals of each set, at least one
   * @param workers threads to build with
   * @param memory bounds the native memory of this and other builds; beyond it rows lie in a file
   * @param abort called regularly on every building thread
   */
  public SubsetGraphs(
      PairDistanceFactory distances,
      int[][] subsets,
      BuildParameters parameters,
      Workers workers,
      MemoryBudget memory,
      AbortCheck abort)
      throws IOException {
    this.distances = distances;
    this.parameters = parameters;
    this.workers = workers;
    this.memory = memory;
    this.abort = abort;
    this.stride = StoredAdjacency.stride(parameters.maxDegree());
    this.entryPoints = new int[subsets.length];
    this.rows = new RowMemory((long) distances.size() * stride * Integer.BYTES, memory, abort);
    boolean success = false;
    try {
      rows.segment().fill((byte) StoredAdjacency.UNUSED);
      buildAll(subsets);
      success = true;
    } finally {
      if (success == false) {
        close();
      }
    }
  }

  private void buildAll(int[][] subsets) throws IOException {
    workers.forEach(
        0,
        subsets.length,
        1,
        () ->
            i -> {
              if (subsets[i].length < LARGE) {
                entryPoints[i] = build(subsets[i], Workers.callingThread());
              }
            },
        abort);
    for (int i = 0; i < subsets.length; i++) {
      if (subsets[i].length >= LARGE) {
        entryPoints[i] = build(subsets[i], workers);
      }
    }
  }

  /** Builds one graph, and returns the ordinal of its entry point. */
  private int build(int[] subset, Workers threads) throws IOException {
    PairDistanceFactory within = distances.among(subset);
    try (VamanaGraph graph =
        new VamanaBuilder(within, parameters, threads, memory, abort)
            .build(center(within.create(), subset.length), List.of())) {
      MemorySegment target = rows.segment();
      int[] row = new int[graph.rows().maxDegree()];
      for (int node = 0; node < subset.length; node++) {
        int degree = graph.rows().neighbors(node, row);
        edges.add(degree);
        long start = (long) subset[node] * stride;
        for (int i = 0; i < degree; i++) {
          target.setAtIndex(INT, start + i, subset[row[i]]);
        }
      }
      return subset[graph.entryPoint()];
    }
  }

  /** Returns the one of some vectors from which the others are nearest. */
  private static int center(PairDistances distances, int size) throws IOException {
    int count = Math.min(SAMPLE, size);
    int[] sample = new int[count];
    for (int i = 0; i < count; i++) {
      sample[i] = (int) ((long) i * size / count);
    }
    float[] found = new float[count];
    int best = 0;
    double least = Double.POSITIVE_INFINITY;
    for (int candidate : sample) {
      distances.pivot(candidate);
      distances.distances(sample, found, count);
      double sum = 0;
      for (float distance : found) {
        sum += distance;
      }
      if (sum < least) {
        least = sum;
        best = candidate;
      }
    }
    return best;
  }

  /** Returns for each set the ordinal from which walks start. */
  public int[] entryPoints() {
    return entryPoints;
  }

  /** Returns the number of edges of all graphs. */
  public long edges() {
    return edges.sum();
  }

  /** Writes the rows of all ordinals. Ordinals of no set have no neighbours. */
  public void write(IndexOutput out) throws IOException {
    MemorySegment all = rows.segment();
    byte[] bytes = new byte[(int) Math.min(BYTES_TOGETHER, all.byteSize())];
    for (long from = 0; from < all.byteSize(); from += bytes.length) {
      abort.check();
      int count = (int) Math.min(bytes.length, all.byteSize() - from);
      MemorySegment.copy(all, ValueLayout.JAVA_BYTE, from, bytes, 0, count);
      out.writeBytes(bytes, count);
    }
  }

  /** Frees the rows. */
  @Override
  public void close() {
    rows.close();
  }
}
