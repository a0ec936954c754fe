package dev.vamana.cuda.question;

import dev.vamana.graph.Adjacency;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.ivf.CodeKind;
import dev.vamana.ivf.InvertedLists;
import dev.vamana.pq.Codebook;
import dev.vamana.search.AcceptedOrdinals;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
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
import org.apache.lucene.store.ByteBuffersIndexInput;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * {@link KnownVectors} as a segment on the heap. Its graph has random edges, so many that every
 * walk of a beam of 64 meets all vectors near a query. Its codes are exact: the first 256 vectors
 * are the centroids of every subspace, and the other vectors are put together of their parts.
 */
final class KnownSegment implements SegmentView {

  private static final int DEGREE = 32;
  private static final long SEED = 0x0EDD_6E5L;

  private final VectorEncoding encoding;
  private final List<float[]> floats;
  private final List<byte[]> bytes;
  private final Codebook codebook;
  private final AcceptedOrdinals acceptedOrdinals = new AcceptedOrdinals();
  private final InvertedLists lists;
  private final FileRegion graph;
  private final FileRegion codes;
  private final FileRegion vectors;

  /**
   * Makes a segment.
   *
   * @param codebook codebook of the codes, or null for a segment without codes
   */
  KnownSegment(KnownVectors known, VectorEncoding encoding, Codebook codebook) throws IOException {
    this(known, encoding, codebook, null);
  }

  private KnownSegment(
      KnownVectors known, VectorEncoding encoding, Codebook codebook, CodeKind listCodes)
      throws IOException {
    this.encoding = encoding;
    this.floats = known.floats();
    this.bytes = known.bytes();
    this.codebook = codebook;
    this.lists = listCodes == null ? null : KnownLists.of(known, vectors(), listCodes);
    this.graph = lists == null ? region("graph", graph()) : null;
    this.codes = codebook == null ? null : region("codes", codes());
    this.vectors = region("vectors", encoding == VectorEncoding.BYTE ? rawBytes() : rawFloats());
  }

  private static ByteBuffer graph() {
    SplittableRandom random = new SplittableRandom(SEED);
    ByteBuffer rows = buffer(KnownVectors.SIZE * DEGREE * Integer.BYTES);
    for (int node = 0; node < KnownVectors.SIZE; node++) {
      // a step that no other slot has, so a row names no node twice
      int step = 1;
      for (int slot = 0; slot < DEGREE; slot++) {
        rows.putInt((node + step) % KnownVectors.SIZE);
        step += 1 + random.nextInt(2 * (KnownVectors.SIZE / DEGREE) - 2);
        step = Math.min(step, KnownVectors.SIZE - DEGREE + slot);
      }
    }
    return rows.flip();
  }

  private ByteBuffer codes() {
    int length = codebook.layout().count();
    byte[] all = new byte[KnownVectors.SIZE * length];
    for (int i = 0; i < KnownVectors.SIZE; i++) {
      codebook.encode(floats.get(i), all, i * length);
    }
    return ByteBuffer.wrap(all);
  }

  private ByteBuffer rawFloats() {
    ByteBuffer rows = buffer(KnownVectors.SIZE * KnownVectors.DIMENSION * Float.BYTES);
    floats.forEach(
        vector -> {
          for (float component : vector) {
            rows.putFloat(component);
          }
        });
    return rows.flip();
  }

  private ByteBuffer rawBytes() {
    ByteBuffer rows = buffer(KnownVectors.SIZE * KnownVectors.DIMENSION);
    bytes.forEach(rows::put);
    return rows.flip();
  }

  private static ByteBuffer buffer(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static FileRegion region(String name, ByteBuffer content) throws IOException {
    long length = content.remaining();
    return FileRegion.of(
        new ByteBuffersIndexInput(new ByteBuffersDataInput(List.of(content)), name), 0, length);
  }

  /**
   * Makes a segment that has inverted lists in place of a graph.
   *
   * @param kind what a code of the lists holds
   */
  static KnownSegment ofLists(KnownVectors known, VectorEncoding encoding, CodeKind kind)
      throws IOException {
    return new KnownSegment(known, encoding, null, kind);
  }

  /** Returns a query. */
  QueryVector query(KnownVectors known, int query) {
    return encoding == VectorEncoding.BYTE
        ? QueryVector.of(known.byteQuery(query))
        : QueryVector.of(known.query(query));
  }

  @Override
  public String name() {
    return "known vectors";
  }

  @Override
  public int size() {
    return KnownVectors.SIZE;
  }

  @Override
  public int dimension() {
    return KnownVectors.DIMENSION;
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
    return hasGraph() ? DEGREE : 0;
  }

  @Override
  public int medoid() {
    return 0;
  }

  @Override
  public Adjacency adjacency() throws IOException {
    return new StoredAdjacency(graph, size(), DEGREE);
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
        ? ByteVectorValues.fromBytes(bytes, dimension())
        : FloatVectorValues.fromFloats(floats, dimension());
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
    return vectors;
  }
}
