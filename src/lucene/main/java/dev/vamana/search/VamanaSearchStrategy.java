package dev.vamana.search;

import java.util.Objects;
import org.apache.lucene.search.knn.KnnSearchStrategy;

/**
 * Walk parameters for one Lucene query, passed as {@code new KnnFloatVectorQuery(field, vector, k,
 * filter, strategy)}. Other formats ignore it.
 */
public final class VamanaSearchStrategy extends KnnSearchStrategy {

  private final WalkParameters walk;

  /**
   * Makes a strategy of walk parameters.
   *
   * @param walk how segments with a graph are walked; if its beam width is below the collector's k,
   *     k is used
   */
  public VamanaSearchStrategy(WalkParameters walk) {
    this.walk = Objects.requireNonNull(walk, "walk");
  }

  /** Returns how segments with a graph are walked. */
  public WalkParameters walk() {
    return walk;
  }

  @Override
  public void nextVectorsBlock() {}

  @Override
  public boolean equals(Object other) {
    return other instanceof VamanaSearchStrategy that && walk.equals(that.walk);
  }

  @Override
  public int hashCode() {
    return walk.hashCode();
  }

  @Override
  public String toString() {
    return "VamanaSearchStrategy[" + walk + "]";
  }
}
