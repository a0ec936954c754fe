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
import org.apache.lucene.codecs.hnsw.FlatVectorsScorer;
import org.apache.lucene.index.ByteVectorValues;
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
 */
final class TinySegment implements SegmentView {

  static final int SIZE = 384;
  static final int QUERIES = 20;
  static final int NEIGHBORS = 5;

  private static final int DIMENSION = 64;
  private static final int LARGEST = 100;
  private static final int PART = 4;
  private static final int DEGREE = 32;
  private static final int LISTS = 8;
  private static final long SEED = 0x5EED_0F_0A11L;

  private final int[][] vectors = new int[SIZE][];
  private final int[][] queries = new int[QUERIES][];
  private final VectorEncoding encoding;
  private final List<float[]> floats;
  private final List<byte[]> bytes;
  private final AcceptedOrdinals acceptedOrdinals = new AcceptedOrdinals();
  private final Codebook codebook;
  private final InvertedLists lists;
  private final FileRegion graph;
  private final FileRegion codes;
  private final FileRegion raw;

  /**
   * Makes a segment.
   *
   * @param listCodes what a code of inverted lists holds; null for a segment with a graph, which
   *     has codes if its vectors are floats
   */
  TinySegment(VectorEncoding encoding, CodeKind listCodes) throws IOException {
    SplittableRandom random = new SplittableRandom(SEED);
    generate(random);
    boolean coded = listCodes == null && encoding == VectorEncoding.FLOAT32;
    this.encoding = encoding;
    this.floats = Arrays.stream(vectors).map(TinySegment::toFloats).toList();
    this.bytes = Arrays.stream(vectors).map(TinySegment::toBytes).toList();
    this.lists = listCodes == null ? null : lists(listCodes);
    this.graph = listCodes == null ? region(graph(random)) : null;
    this.codebook = coded ? ofFirstVectors() : null;
    this.codes = coded ? region(codes()) : null;
    this.raw = region(raw());
  }

  private void generate(SplittableRandom random) {
    int at = 0;
    for (int q = 0; q < QUERIES; q++) {
      queries[q] = vector(random);
      for (int n = 1; n <= NEIGHBORS; n++) {
        vectors[at] = queries[q].clone();
        vectors[at++][random.nextInt(DIMENSION)] += n;
      }
    }
    while (at < Codebook.CENTROIDS) {
      vectors[at++] = vector(random);
    }
    int others = QUERIES * NEIGHBORS;
    while (at < SIZE) {
      vectors[at] = new int[DIMENSION];
      for (int d = 0; d < DIMENSION; d += PART) {
        int from = others + random.nextInt(Codebook.CENTROIDS - others);
        System.arraycopy(vectors[from], d, vectors[at], d, PART);
      }
      at++;
    }
  }

  private static int[] vector(SplittableRandom random) {
    return random.ints(DIMENSION, 0, LARGEST + 1).toArray();
  }

  private static float[] toFloats(int[] vector) {
    float[] floats = new float[vector.length];
    for (int d = 0; d < floats.length; d++) {
      floats[d] = vector[d];
    }
    return floats;
  }

  private static byte[] toBytes(int[] vector) {
    byte[] bytes = new byte[vector.length];
    for (int d = 0; d < bytes.length; d++) {
      bytes[d] = (byte) vector[d];
    }
    return bytes;
  }

  private static ByteBuffer graph(SplittableRandom random) {
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

  private Codebook ofFirstVectors() {
    float[] centroids = new float[Codebook.CENTROIDS * DIMENSION];
    int at = 0;
    for (int part = 0; part < DIMENSION; part += PART) {
      for (int c = 0; c < Codebook.CENTROIDS; c++) {
        System.arraycopy(floats.get(c), part, centroids, at, PART);
        at += PART;
      }
    }
    CodebookId id = new CodebookId(new byte[CodebookId.ID_BYTES], "self-test", 1);
    return new Codebook(id, new SubspaceLayout(DIMENSION, DIMENSION / PART), centroids);
  }

  private ByteBuffer codes() {
    ByteBuffer rows = buffer(SIZE * codebook.layout().count());
    for (int[] vector : vectors) {
      for (int from = 0; from < DIMENSION; from += PART) {
        int to = from + PART;
        int code = 0;
        while (Arrays.equals(vector, from, to, vectors[code], from, to) == false) {
          code++;
        }
        rows.put((byte) code);
      }
    }
    return rows;
  }

  private ByteBuffer raw() {
    ByteBuffer rows = buffer(SIZE * DIMENSION * encoding.byteSize);
    for (int[] vector : vectors) {
      for (int component : vector) {
        if (encoding == VectorEncoding.BYTE) {
          rows.put((byte) component);
        } else {
          rows.putFloat(component);
        }
      }
    }
    return rows;
  }

  private InvertedLists lists(CodeKind kind) throws IOException {
    Rotation rotation = new Rotation(DIMENSION, SEED);
    float[][] plain = new float[LISTS][];
    float[][] rotated = new float[LISTS][rotation.padded()];
    for (int list = 0; list < LISTS; list++) {
      plain[list] = floats.get(list * SIZE / LISTS);
      rotation.apply(plain[list], rotated[list]);
    }
    CentroidsId id = new CentroidsId(new byte[CentroidsId.BYTES]);
    Centroids centroids = new Centroids(id, SEED, rotation, null, plain, rotated, Float.NaN);
    ByteBuffersDataOutput written = new ByteBuffersDataOutput();
    try (ByteBuffersIndexOutput out = new ByteBuffersIndexOutput(written, name(), name())) {
      ListBuilder.Written facts =
          new ListBuilder(
                  vectors(),
                  similarity(),
                  kind,
                  centroids,
                  PqEngine.NONE,
                  Workers.callingThread(),
                  AbortCheck.NEVER)
              .write(out, List.of());
      FileRegion region =
          FileRegion.of(
              new ByteBuffersIndexInput(written.toDataInput(), name()), 0, written.size());
      return new InvertedLists(region, facts.shape(), facts.facts(), encoding, similarity());
    }
  }

  private static ByteBuffer buffer(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  private FileRegion region(ByteBuffer content) throws IOException {
    List<ByteBuffer> whole = List.of(content.flip());
    return FileRegion.of(
        new ByteBuffersIndexInput(new ByteBuffersDataInput(whole), name()), 0, content.limit());
  }

  /** Returns the nearest vector of a query; the others follow it, each at the next distance. */
  static int nearest(int query) {
    return query * NEIGHBORS;
  }

  /** Returns a query, 0 to {@value #QUERIES} - 1. */
  QueryVector query(int query) {
    return encoding == VectorEncoding.BYTE
        ? QueryVector.of(toBytes(queries[query]))
        : QueryVector.of(toFloats(queries[query]));
  }

  @Override
  public String name() {
    return "self-test";
  }

  @Override
  public int size() {
    return SIZE;
  }

  @Override
  public int dimension() {
    return DIMENSION;
  }

  @Override
  public VectorEncoding encoding() {
    return encoding;
  }

  @Override
  public VectorSimilarityFunction similarity() {
    return VectorSimilarityFunction.EUCLIDEAN;
  }

  @Override
  public boolean hasGraph() {
    return graph != null;
  }

  @Override
  public boolean hasLists() {
    return lists != null;
  }

  @Override
  public InvertedLists lists() {
    return lists;
  }

  @Override
  public int maxDegree() {
    return hasGraph() ? DEGREE : 0;
  }

  @Override
  public float meanDegree() {
    return maxDegree();
  }

  @Override
  public int medoid() {
    return 0;
  }

  @Override
  public Adjacency adjacency() throws IOException {
    return new StoredAdjacency(graph, SIZE, DEGREE);
  }

  @Override
  public AcceptedOrdinals acceptedOrdinals() {
    return acceptedOrdinals;
  }

  @Override
  public RandomVectorScorer scorer(QueryVector query) throws IOException {
    FlatVectorsScorer scorer = FlatVectorScorerUtil.getLucene99FlatVectorsScorer();
    return encoding == VectorEncoding.BYTE
        ? scorer.getRandomVectorScorer(similarity(), vectors(), query.bytes())
        : scorer.getRandomVectorScorer(similarity(), vectors(), query.floats());
  }

  @Override
  public KnnVectorValues vectors() {
    return encoding == VectorEncoding.BYTE
        ? ByteVectorValues.fromBytes(bytes, DIMENSION)
        : FloatVectorValues.fromFloats(floats, DIMENSION);
  }

  @Override
  public Codebook codebook() {
    return codebook;
  }

  @Override
  public FileRegion graphRegion() {
    return graph;
  }

  @Override
  public FileRegion codesRegion() {
    return codes;
  }

  @Override
  public FileRegion vectorsRegion() {
    return raw;
  }
}
