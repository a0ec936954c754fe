package dev.vamana.cuda;

import dev.vamana.graph.Adjacency;
import dev.vamana.pq.Codebook;
import dev.vamana.search.AcceptedOrdinals;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/** A segment with other regions of adjacency rows or vectors. */
record OtherFiles(SegmentView view, FileRegion graphRegion, FileRegion vectorsRegion)
    implements SegmentView {

  @Override
  public String name() {
    return view.name();
  }

  @Override
  public AcceptedOrdinals acceptedOrdinals() {
    return view.acceptedOrdinals();
  }

  @Override
  public int size() {
    return view.size();
  }

  @Override
  public int dimension() {
    return view.dimension();
  }

  @Override
  public VectorEncoding encoding() {
    return view.encoding();
  }

  @Override
  public VectorSimilarityFunction similarity() {
    return view.similarity();
  }

  @Override
  public boolean hasGraph() {
    return view.hasGraph();
  }

  @Override
  public int maxDegree() {
    return view.maxDegree();
  }

  @Override
  public float meanDegree() {
    return view.meanDegree();
  }

  @Override
  public int medoid() {
    return view.medoid();
  }

  @Override
  public Adjacency adjacency() throws IOException {
    return view.adjacency();
  }

  @Override
  public RandomVectorScorer scorer(QueryVector query) throws IOException {
    return view.scorer(query);
  }

  @Override
  public KnnVectorValues vectors() throws IOException {
    return view.vectors();
  }

  @Override
  public Codebook codebook() throws IOException {
    return view.codebook();
  }

  @Override
  public FileRegion codesRegion() {
    return view.codesRegion();
  }
}
