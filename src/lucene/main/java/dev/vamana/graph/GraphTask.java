package dev.vamana.graph;

import dev.vamana.vectors.PairDistanceFactory;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.MemoryBudget;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.apache.lucene.codecs.hnsw.FlatVectorsScorer;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;

/** A graph that is to be built: vectors, parameters, threads. Thread-safe. */
public final class GraphTask {

  private final KnnVectorValues vectors;
  private final VectorSimilarityFunction similarity;
  private final FlatVectorsScorer scorer;
  private final BuildParameters parameters;
  private final int medoid;
  private final List<ExistingGraph> existing;
  private final Workers workers;
  private final MemoryBudget memory;
  private final AbortCheck abort;
  private PairDistanceFactory distances;

  /**
   * Makes a task.
   *
   * @param vectors the vectors, at least one, random access by ordinal
   * @param scorer Lucene's scorer of the vectors
   * @param medoid ordinal from which searches will start
   * @param existing graphs over some of the vectors to start from, the largest first; may be empty
   * @param workers threads to build with
   * @param memory bounds the native memory of this and other builds; beyond it rows lie in a file
   * @param abort called regularly on every building thread
   */
  public GraphTask(
      KnnVectorValues vectors,
      VectorSimilarityFunction similarity,
      FlatVectorsScorer scorer,
      BuildParameters parameters,
      int medoid,
      List<ExistingGraph> existing,
      Workers workers,
      MemoryBudget memory,
      AbortCheck abort) {
    this.vectors = vectors;
    this.similarity = similarity;
    this.scorer = scorer;
    this.parameters = parameters;
    this.medoid = Objects.checkIndex(medoid, vectors.size());
    this.existing = existing;
    this.workers = workers;
    this.memory = memory;
    this.abort = abort;
  }

  /** Number of vectors. */
  public int size() {
    return vectors.size();
  }

  /** Components of a vector. */
  public int dimension() {
    return vectors.dimension();
  }

  /** Returns a view of the vectors for the calling thread. */
  public synchronized KnnVectorValues vectors() throws IOException {
    return vectors.copy();
  }

  /** The field's similarity. */
  public VectorSimilarityFunction similarity() {
    return similarity;
  }

  /** Parameters of the graph. */
  public BuildParameters parameters() {
    return parameters;
  }

  /** Ordinal from which searches will start. */
  public int medoid() {
    return medoid;
  }

  /** Graphs over some of the vectors to start from, the largest first; may be empty. */
  public List<ExistingGraph> existing() {
    return existing;
  }

  /** Threads to build with. */
  public Workers workers() {
    return workers;
  }

  /** Bounds the native memory of this and other builds. */
  public MemoryBudget memory() {
    return memory;
  }

  /** Called regularly on every building thread. */
  public AbortCheck abort() {
    return abort;
  }

  /** Returns the same task with another abort check. */
  public GraphTask withAbort(AbortCheck newAbort) {
    return new GraphTask(
        vectors, similarity, scorer, parameters, medoid, existing, workers, memory, newAbort);
  }

  /** Distances between the vectors. They are made when they are first needed. */
  public synchronized PairDistanceFactory distances() throws IOException {
    if (distances == null) {
      distances = new PairDistanceFactory(scorer, similarity, vectors, workers, abort);
    }
    return distances;
  }
}
