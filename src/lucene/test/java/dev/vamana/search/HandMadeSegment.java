package dev.vamana.search;

import dev.vamana.graph.Adjacency;
import dev.vamana.graph.ListedAdjacency;
import dev.vamana.pq.Codebook;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.util.List;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/** Points on a line, joined by edges that a test chooses, and searched with Lucene's scorers. */
final class HandMadeSegment implements SegmentView {

  private final float[] positions;
  private final int[][] rows;
  private final int medoid;
  private final AcceptedOrdinals acceptedOrdinals = new AcceptedOrdinals();

  HandMadeSegment(float[] positions, int[][] rows, int medoid) {
    this.positions = positions;
    this.rows = rows;
    this.medoid = medoid;
  }

  @Override
  public String name() {
    return "hand-made";
  }

  @Override
  public AcceptedOrdinals acceptedOrdinals() {
    return acceptedOrdinals;
  }

  @Override
  public int size() {
    return positions.length;
  }

  @Override
  public int dimension() {
    return 1;
  }

  @Override
  public VectorEncoding encoding() {
    return VectorEncoding.FLOAT32;
  }

  @Override
  public VectorSimilarityFunction similarity() {
    return VectorSimilarityFunction.EUCLIDEAN;
  }

  @Override
  public boolean hasGraph() {
    return true;
  }

  @Override
  public float meanDegree() {
    return maxDegree();
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
    return FlatVectorScorerUtil.getLucene99FlatVectorsScorer()
        .getRandomVectorScorer(similarity(), vectors(), query.floats());
  }

  @Override
  public FloatVectorValues vectors() {
    List<float[]> vectors =
        java.util.stream.IntStream.range(0, positions.length)
            .mapToObj(ordinal -> new float[] {positions[ordinal]})
            .toList();
    return FloatVectorValues.fromFloats(vectors, 1);
  }

  @Override
  public Codebook codebook() {
    return null;
  }

  @Override
  public FileRegion graphRegion() {
    return null;
  }

  @Override
  public FileRegion codesRegion() {
    return null;
  }

  @Override
  public FileRegion vectorsRegion() {
    return null;
  }
}
