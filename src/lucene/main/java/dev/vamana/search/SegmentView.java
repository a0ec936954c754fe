package dev.vamana.search;

import dev.vamana.graph.Adjacency;
import dev.vamana.ivf.InvertedLists;
import dev.vamana.pq.Codebook;
import dev.vamana.vectors.FileChecks;
import dev.vamana.vectors.FileRegion;
import dev.vamana.vectors.RawComparison;
import dev.vamana.vectors.ScalarFilter;
import java.io.IOException;
import java.util.function.Supplier;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.Directory;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * One field of one open segment, as executors see it. A segment has the same instance for as long
 * as its reader is open, so executors may use it as an identity key. Thread-safe.
 */
public interface SegmentView {

  /** Returns segment and field, for messages. */
  String name();

  /**
   * Returns the directory of the segment's index, which no wrapper hides and which is not a
   * compound file; null if the segment is of no index.
   */
  default Directory directory() {
    return null;
  }

  /**
   * Returns the family of the segments that the same queries search, compared by {@code equals}:
   * the directory of the index (in Elasticsearch, the shard) and the field.
   */
  default Object family() {
    return this;
  }

  /** Returns the number of vectors. */
  int size();

  /** Returns the components of a vector, 1 to 4,096. */
  int dimension();

  /** Returns the type of the components. */
  VectorEncoding encoding();

  /** Returns the similarity function, which also defines the exact scores. */
  VectorSimilarityFunction similarity();

  /** Whether every document has a vector, so that ordinals are the numbers of documents. */
  default boolean isDense() {
    return false;
  }

  /** Whether the segment has a graph. Segments below the graph threshold have none. */
  boolean hasGraph();

  /** Whether the segment has a graph or inverted lists, rather than vectors alone. */
  default boolean isIndexed() {
    return hasGraph() || hasLists();
  }

  /** Returns the max degree of the graph; 0 without one. */
  int maxDegree();

  /** Returns the mean number of out-neighbours of a node; 0 without a graph. */
  float meanDegree();

  /** Returns the ordinal from which walks start; -1 without a graph. */
  int medoid();

  /**
   * Returns the graph, for use by the calling thread only.
   *
   * @throws IllegalStateException without a graph
   */
  Adjacency adjacency() throws IOException;

  /** Returns the copies of accepted ordinals, always the same object. */
  AcceptedOrdinals acceptedOrdinals();

  /**
   * Returns exact scores of a query, for use by the calling thread only.
   *
   * @throws org.apache.lucene.index.CorruptIndexException if a file is known to be damaged
   */
  RandomVectorScorer scorer(QueryVector query) throws IOException;

  /**
   * Returns the comparison that walks and scans of this segment use instead of scores, or null if
   * scores are precise enough.
   */
  default RawComparison rawComparison() throws IOException {
    return null;
  }

  /**
   * Returns a filter by estimated distances to a query, for use by the calling thread only; null
   * without codes for that, or where they say too little of this query.
   */
  default ScalarFilter distanceFilter(float[] query) throws IOException {
    return null;
  }

  /** Whether the segment has inverted lists, which it then has in place of a graph. */
  default boolean hasLists() {
    return false;
  }

  /** Returns the inverted lists, or null without. */
  default InvertedLists lists() {
    return null;
  }

  /** Returns the graphs of the values of a filter field, or null without. */
  default LabelGraphs labels() {
    return null;
  }

  /**
   * Returns one list of all vectors, whose codes tell scans on the CPU which of them need no exact
   * score; null without. Only segments that have neither a graph nor inverted lists have it.
   */
  default InvertedLists scanCodes() {
    return null;
  }

  /**
   * Returns the raw vectors by ordinal, for use by the calling thread only.
   *
   * @throws org.apache.lucene.index.CorruptIndexException if a file is known to be damaged
   */
  KnnVectorValues vectors() throws IOException;

  /** Returns the codebook of the segment's codes, or null without codes. */
  Codebook codebook() throws IOException;

  /**
   * Returns the adjacency rows in the file, see {@link dev.vamana.graph.StoredAdjacency}; null
   * without a graph.
   */
  FileRegion graphRegion();

  /** Returns the codes in the file, one byte per subspace for each ordinal; null without codes. */
  FileRegion codesRegion();

  /**
   * Returns the raw vectors in the file, in ordinal order; null if the raw format does not store
   * them as one slice.
   */
  FileRegion vectorsRegion() throws IOException;

  /** Returns what changes in the walks of queries that bring no parameters of their own. */
  default WalkChange walkChange() {
    return WalkChange.NONE;
  }

  /** Sets who is asked what changes in walks, at every search. */
  default void walkChanges(Supplier<WalkChange> source) {}

  /**
   * Returns the search of the segment's own format, which then answers in place of a walk on the
   * CPU; null if the CPU walks the graph.
   */
  default FormatSearch formatSearch() {
    return null;
  }

  /** Searches a segment whose format is not this project's. */
  @FunctionalInterface
  interface FormatSearch {
    /** Answers an item on the calling thread, with exact scores. */
    WorkResult search(WorkItem item) throws IOException;
  }

  /** Returns the checks of the segment's files, always the same objects. */
  default FileChecks fileChecks() {
    return FileChecks.NONE;
  }
}
