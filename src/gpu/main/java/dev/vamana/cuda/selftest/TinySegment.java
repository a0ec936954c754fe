package dev.vamana.cuda.selftest;

import dev.vamana.graph.Adjacency;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.ivf.Centroids;
import dev.vamana.ivf.CentroidsId;
import dev.vamana.ivf.CodeKind;
import dev.vamana.ivf.InvertedLists;
import dev.vamana.ivf.ListBuilder;
import dev.vamana.ivf.Rotation;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.PqEngine;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.search.AcceptedOrdinals;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.vectors.FileRegion;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.ByteBuffersDataInput;
import org.apache.lucene.store.ByteBuffersDataOutput;
import org.apache.lucene.store.ByteBuffersIndexInput;
import org.apache.lucene.store.ByteBuffersIndexOutput;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * A segment on the heap, always the same, whose neighbours every search finds. Components are
 * integers from 0 to 105, so sums are the same in every order and precision. Each query has {@value
 * #NEIGHBORS} vectors at the distances 1 to {@value #NEIGHBORS}; all others are much farther. The
 * graph has random edges, so many that a beam of 64 meets all neighbours. The first 256 vectors are
 * the centroids of every subspace, and the others are put together of their parts, so codes are
 * exact. {@link SelfTest} searches it.
 *
 * @param points the vectors, of which the first are the neighbours of the queries
 * @param queries the queries, {@value #QUERIES}
 * @param lists null for a segment with a graph and codes
 */
record TinySegment(
    String name,
    int size,
    int dimension,
    VectorSimilarityFunction similarity,
    int maxDegree,
    float meanDegree,
    int medoid,
    float[][] points,
    float[][] queries,
    AcceptedOrdinals acceptedOrdinals,
    InvertedLists lists,
    Codebook codebook,
    FileRegion graphRegion,
    FileRegion codesRegion,
    FileRegion vectorsRegion)
    implements SegmentView {

  static final int SIZE = 384;
  static final int QUERIES = 20;
  static final int NEIGHBORS = 5;

  private static final String NAME = "self-test";
  private static final int DIMENSION = 64;
  private static final int LARGEST = 100;
  private static final int PART = 4;
  private static final int DEGREE = 32;
  private static final int LISTS = 8;
  private static final long SEED = 0x5EED_0F_0A11L;

  /** Makes a segment with a graph and codes. */
  static TinySegment withGraph() throws IOException {
    SplittableRandom random = new SplittableRandom(SEED);
    float[][] queries = new float[QUERIES][];
    float[][] points = points(random, queries);
    Codebook codebook = ofFirst(points);
    return of(
        points, queries, null, codebook, region(edges(random)), region(codes(points, codebook)));
  }

  /** Makes a segment with lists, of codes of several bits, whose tails are read, too. */
  static TinySegment withLists() throws IOException {
    float[][] queries = new float[QUERIES][];
    float[][] points = points(new SplittableRandom(SEED), queries);
    return of(points, queries, inLists(points), null, null, null);
  }

  private static TinySegment of(
      float[][] points,
      float[][] queries,
      InvertedLists lists,
      Codebook codebook,
      FileRegion graph,
      FileRegion codes)
      throws IOException {
    int degree = graph == null ? 0 : DEGREE;
    return new TinySegment(
        NAME,
        SIZE,
        DIMENSION,
        VectorSimilarityFunction.EUCLIDEAN,
        degree,
        degree,
        0,
        points,
        queries,
        new AcceptedOrdinals(),
        lists,
        codebook,
        graph,
        codes,
        region(raw(points)));
  }

  private static float[][] points(SplittableRandom random, float[][] queries) {
    float[][] points = new float[SIZE][];
    int at = 0;
    for (int q = 0; q < QUERIES; q++) {
      queries[q] = vector(random);
      for (int n = 1; n <= NEIGHBORS; n++) {
        points[at] = queries[q].clone();
        points[at++][random.nextInt(DIMENSION)] += n;
      }
    }
    while (at < Codebook.CENTROIDS) {
      points[at++] = vector(random);
    }
    int others = QUERIES * NEIGHBORS;
    while (at < SIZE) {
      points[at] = new float[DIMENSION];
      for (int d = 0; d < DIMENSION; d += PART) {
        int from = others + random.nextInt(Codebook.CENTROIDS - others);
        System.arraycopy(points[from], d, points[at], d, PART);
      }
      at++;
    }
    return points;
  }

  private static float[] vector(SplittableRandom random) {
    float[] vector = new float[DIMENSION];
    for (int d = 0; d < DIMENSION; d++) {
      vector[d] = random.nextInt(LARGEST + 1);
    }
    return vector;
  }

  private static ByteBuffer edges(SplittableRandom random) {
    ByteBuffer rows = buffer(SIZE * DEGREE * Integer.BYTES);
    for (int node = 0; node < SIZE; node++) {
      // a step that no other slot has, so a row names no node twice
      int step = 1;
      for (int slot = 0; slot < DEGREE; slot++) {
        rows.putInt((node + step) % SIZE);
        step += 1 + random.nextInt(2 * (SIZE / DEGREE) - 2);
        step = Math.min(step, SIZE - DEGREE + slot);
      }
    }
    return rows;
  }

  private static Codebook ofFirst(float[][] points) {
    float[] centroids = new float[Codebook.CENTROIDS * DIMENSION];
    int at = 0;
    for (int part = 0; part < DIMENSION; part += PART) {
      for (int c = 0; c < Codebook.CENTROIDS; c++) {
        for (int d = part; d < part + PART; d++) {
          centroids[at++] = points[c][d];
        }
      }
    }
    CodebookId id = new CodebookId(new byte[CodebookId.ID_BYTES], "self-test", 1);
    return new Codebook(id, new SubspaceLayout(DIMENSION, DIMENSION / PART), centroids);
  }

  private static ByteBuffer codes(float[][] points, Codebook codebook) {
    ByteBuffer rows = buffer(SIZE * codebook.layout().count());
    for (float[] vector : points) {
      for (int from = 0; from < DIMENSION; from += PART) {
        int to = from + PART;
        int code = 0;
        while (Arrays.equals(vector, from, to, points[code], from, to) == false) {
          code++;
        }
        rows.put((byte) code);
      }
    }
    return rows;
  }

  private static ByteBuffer raw(float[][] points) {
    ByteBuffer rows = buffer(SIZE * DIMENSION * Float.BYTES);
    for (float[] vector : points) {
      for (float component : vector) {
        rows.putFloat(component);
      }
    }
    return rows;
  }

  private static InvertedLists inLists(float[][] points) throws IOException {
    Rotation rotation = new Rotation(DIMENSION, SEED);
    float[][] plain = new float[LISTS][];
    float[][] rotated = new float[LISTS][rotation.padded()];
    for (int list = 0; list < LISTS; list++) {
      plain[list] = points[list * SIZE / LISTS];
      rotation.apply(plain[list], rotated[list]);
    }
    CentroidsId id = new CentroidsId(new byte[CentroidsId.BYTES]);
    Centroids centroids = new Centroids(id, SEED, rotation, null, plain, rotated, Float.NaN);
    ListBuilder builder =
        new ListBuilder(
            FloatVectorValues.fromFloats(Arrays.asList(points), DIMENSION),
            VectorSimilarityFunction.EUCLIDEAN,
            CodeKind.RABITQ4,
            centroids,
            PqEngine.NONE,
            Workers.callingThread(),
            AbortCheck.NEVER);
    ByteBuffersDataOutput written = new ByteBuffersDataOutput();
    try (ByteBuffersIndexOutput out = new ByteBuffersIndexOutput(written, NAME, NAME)) {
      ListBuilder.Written facts = builder.write(out, List.of());
      FileRegion region =
          FileRegion.of(new ByteBuffersIndexInput(written.toDataInput(), NAME), 0, written.size());
      return new InvertedLists(
          region,
          facts.shape(),
          facts.facts(),
          VectorEncoding.FLOAT32,
          VectorSimilarityFunction.EUCLIDEAN);
    }
  }

  private static ByteBuffer buffer(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static FileRegion region(ByteBuffer content) throws IOException {
    List<ByteBuffer> whole = List.of(content.flip());
    return FileRegion.of(
        new ByteBuffersIndexInput(new ByteBuffersDataInput(whole), NAME), 0, content.limit());
  }

  /** Returns the nearest vector of a query; the others follow it, each at the next distance. */
  static int nearest(int query) {
    return query * NEIGHBORS;
  }

  /** Returns a query, 0 to {@value #QUERIES} - 1. */
  QueryVector query(int query) {
    return QueryVector.of(queries[query]);
  }

  @Override
  public VectorEncoding encoding() {
    return VectorEncoding.FLOAT32;
  }

  @Override
  public boolean hasGraph() {
    return graphRegion != null;
  }

  @Override
  public boolean hasLists() {
    return lists != null;
  }

  @Override
  public Adjacency adjacency() throws IOException {
    return new StoredAdjacency(graphRegion, SIZE, DEGREE);
  }

  @Override
  public RandomVectorScorer scorer(QueryVector query) throws IOException {
    return FlatVectorScorerUtil.getLucene99FlatVectorsScorer()
        .getRandomVectorScorer(similarity(), vectors(), query.floats());
  }

  @Override
  public KnnVectorValues vectors() {
    return FloatVectorValues.fromFloats(Arrays.asList(points), DIMENSION);
  }
}
