package dev.vamana.search;

import dev.vamana.graph.Adjacency;
import dev.vamana.pq.Codebook;
import dev.vamana.vectors.FileRegion;
import dev.vamana.vectors.RawComparison;
import java.io.IOException;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * One field of one open segment, as an executor sees it. The same instance stands for the same
 * segment for as long as its reader is open, so executors may key what they keep for it by
 * identity. Thread-safe.
 */
public interface SegmentView {

  /** Segment and field, for messages. */
  String name();

  /** Number of vectors. */
  int size();

  /** Number of components of a vector, 1 to 4,096. */
  int dimension();

  /** Type of the components. */
  VectorEncoding encoding();

  /** How vectors are compared; exact scores are this function's. */
  VectorSimilarityFunction similarity();

  /** Whether the segment has a graph; those below the graph threshold have none. */
  boolean hasGraph();

  /** Max degree the graph was built with; 0 without a graph. */
  int maxDegree();

  /** Mean number of out-neighbours of a node; 0 without a graph. */
  float meanDegree();

  /** Ordinal that walks start from; -1 without a graph. */
  int medoid();

  /**
   * The graph, for the calling thread alone.
   *
   * @throws IllegalStateException without a graph
   */
  Adjacency adjacency() throws IOException;

  /** Copies of accepted ordinals; one and the same instance. */
  AcceptedOrdinals acceptedOrdinals();

  /** Exact scores of a query, for the calling thread alone. */
  RandomVectorScorer scorer(QueryVector query) throws IOException;

  /**
   * What walks and scans of this segment order vectors by, where scores are too coarse for that;
   * null where scores will do.
   */
  default RawComparison rawComparison() throws IOException {
    return null;
  }

  /** The raw vectors by ordinal, for the calling thread alone. */
  KnnVectorValues vectors() throws IOException;

  /** The codebook of the segment's codes, or null if it has no codes. */
  Codebook codebook() throws IOException;

  /**
   * The adjacency rows in the file, see {@link dev.vamana.graph.StoredAdjacency}; null without a
   * graph.
   */
  FileRegion graphRegion();

  /**
   * The codes in the file, one of as many bytes as there are subspaces for each ordinal; null
   * without codes.
   */
  FileRegion codesRegion();

  /**
   * The raw vectors in the file, in ordinal order; null where the raw format gives no slice of one.
   */
  FileRegion vectorsRegion() throws IOException;
}
