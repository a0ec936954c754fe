package dev.vamana.cuda.kernel;

import dev.vamana.graph.Adjacency;
import dev.vamana.graph.ListedAdjacency;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.search.AcceptedOrdinals;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.codecs.hnsw.FlatVectorsScorer;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * Random vectors, a random connected graph and random codes. With integer components all sums are
 * exact in any order, so two implementations of a walk agree to the last bit, including ties, of
 * which there are many.
 */
final class GeneratedSegment implements SegmentView {

  private static final float DEVIATION = 5;

  private final VectorSimilarityFunction similarity;
  private final VectorEncoding encoding;
  private final boolean integers;
  private final List<float[]> floats;
  private final List<byte[]> bytes;
  private final int[][] rows;
  private final int medoid;
  private final AcceptedOrdinals acceptedOrdinals = new AcceptedOrdinals();
  private final Codebook codebook;
  private final byte[] codes;
  private final FileRegion codesRegion;

  GeneratedSegment(
      Random random,
      VectorSimilarityFunction similarity,
      VectorEncoding encoding,
      boolean integers,
      int size,
      int dimension)
      throws IOException {
    this.similarity = similarity;
    this.encoding = encoding;
    this.integers = integers;
    this.floats = random.doubles(size).mapToObj(unused -> vector(random, dimension)).toList();
    this.bytes = floats.stream().map(GeneratedSegment::toBytes).toList();
    this.rows = rows(random, size, 2 + random.nextInt(30));
    this.medoid = random.nextInt(size);
    SubspaceLayout layout =
        new SubspaceLayout(dimension, 1 + random.nextInt(Math.min(dimension, 256)));
    float[] centroids = vector(random, Codebook.CENTROIDS * dimension);
    this.codebook = new Codebook(CodebookId.random(), layout, centroids);
    this.codes = new byte[size * layout.count()];
    for (int i = 0; i < size; i++) {
      codebook.encode(floats.get(i), codes, i * layout.count());
    }
    this.codesRegion = region(codes);
  }

  private float[] vector(Random random, int dimension) {
    float[] vector = new float[dimension];
    for (int d = 0; d < dimension; d++) {
      float component = (float) random.nextGaussian() * DEVIATION;
      vector[d] = integers ? Math.round(component) : component;
    }
    return vector;
  }

  private static byte[] toBytes(float[] vector) {
    byte[] bytes = new byte[vector.length];
    for (int d = 0; d < bytes.length; d++) {
      bytes[d] = (byte) Math.round(vector[d]);
    }
    return bytes;
  }

  /** A ring, so that every node can be reached, and edges to anywhere, some of them twice. */
  private static int[][] rows(Random random, int size, int maxDegree) {
    int[][] rows = new int[size][];
    for (int i = 0; i < size; i++) {
      int degree = 1 + random.nextInt(maxDegree);
      int next = (i + 1) % size;
      // a graph names no neighbour twice
      rows[i] =
          IntStream.concat(IntStream.of(next), random.ints(0, size))
              .distinct()
              .limit(Math.min(degree, size))
              .toArray();
      int place = random.nextInt(rows[i].length);
      rows[i][0] = rows[i][place];
      rows[i][place] = next;
    }
    return rows;
  }

  private static FileRegion region(byte[] content) throws IOException {
    ByteBuffersDirectory directory = new ByteBuffersDirectory();
    try (IndexOutput output = directory.createOutput("codes", IOContext.DEFAULT)) {
      output.writeBytes(content, content.length);
    }
    return FileRegion.of(directory.openInput("codes", IOContext.DEFAULT), 0, content.length);
  }

  /** A query like the vectors. */
  QueryVector query(Random random) {
    float[] query = vector(random, dimension());
    return encoding == VectorEncoding.BYTE ? QueryVector.of(toBytes(query)) : QueryVector.of(query);
  }

  int[] row(int ordinal) {
    return rows[ordinal];
  }

  float[] vector(int ordinal) {
    return floats.get(ordinal);
  }

  byte[] byteVector(int ordinal) {
    return bytes.get(ordinal);
  }

  byte[] codes() {
    return codes;
  }

  @Override
  public String name() {
    return "generated";
  }

  @Override
  public AcceptedOrdinals acceptedOrdinals() {
    return acceptedOrdinals;
  }

  @Override
  public int size() {
    return rows.length;
  }

  @Override
  public int dimension() {
    return floats.get(0).length;
  }

  @Override
  public VectorEncoding encoding() {
    return encoding;
  }

  @Override
  public VectorSimilarityFunction similarity() {
    return similarity;
  }

  @Override
  public boolean hasGraph() {
    return true;
  }

  /** So few that a walk is always the better plan. */
  @Override
  public float meanDegree() {
    return 0;
  }

  @Override
  public int maxDegree() {
    return new ListedAdjacency(rows).maxDegree();
  }

  @Override
  public int medoid() {
    return medoid;
  }

  @Override
  public Adjacency adjacency() {
    return new ListedAdjacency(rows);
  }

  @Override
  public RandomVectorScorer scorer(QueryVector query) throws IOException {
    FlatVectorsScorer scorer = FlatVectorScorerUtil.getLucene99FlatVectorsScorer();
    return encoding == VectorEncoding.BYTE
        ? scorer.getRandomVectorScorer(similarity, vectors(), query.bytes())
        : scorer.getRandomVectorScorer(similarity, vectors(), query.floats());
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
    return null;
  }

  @Override
  public FileRegion codesRegion() {
    return codesRegion;
  }

  @Override
  public FileRegion vectorsRegion() {
    return null;
  }
}
