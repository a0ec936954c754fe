package dev.vamana.search;

/**
 * The parameters of a walk.
 *
 * @param beamWidth capacity of the worklist (t in the BANG paper), 1 to {@value #MAX_BEAM_WIDTH};
 *     at least k is used
 * @param distances the distances that the walk compares
 * @param parents unexpanded nodes that are expanded together in one step, 1 to {@value
 *     #MAX_PARENTS}; BANG expands 1
 * @param rerankDepth number of best accepted nodes of the final worklist that get exact scores
 *     after a walk on quantized distances, at least k is used; or {@link #RERANK_EXPANDED} for all
 *     expanded nodes, the mode of the BANG paper (section 4.9); or {@link #RERANK_DEFAULT} for the
 *     larger of 2k and {@value #MIN_DEFAULT_RERANK}
 */
public record WalkParameters(int beamWidth, Distances distances, int parents, int rerankDepth) {

  public static final int MAX_BEAM_WIDTH = 10_000;
  public static final int MAX_PARENTS = 64;
  public static final int RERANK_DEFAULT = 0;
  public static final int RERANK_EXPANDED = -1;

  static final int MIN_DEFAULT_RERANK = 32;

  // a narrower beam too often ends at the first local optimum
  private static final int MIN_DEFAULT_BEAM_WIDTH = 10;

  /** The distances that a walk compares. */
  public enum Distances {
    /** Exact distances, from the raw vectors. */
    EXACT,
    /**
     * Asymmetric distances from the codes; a segment without codes is walked on exact distances.
     */
    QUANTIZED
  }

  public WalkParameters {
    check("beamWidth", beamWidth, 1, MAX_BEAM_WIDTH);
    check("parents", parents, 1, MAX_PARENTS);
    check("rerankDepth", rerankDepth, RERANK_EXPANDED, MAX_BEAM_WIDTH);
  }

  /** Makes a walk on exact distances, with one parent per step. */
  public static WalkParameters exact(int beamWidth) {
    return new WalkParameters(beamWidth, Distances.EXACT, 1, RERANK_DEFAULT);
  }

  /**
   * Makes a walk for k hits on exact distances, with one parent per step and a beam of k, but at
   * least {@value #MIN_DEFAULT_BEAM_WIDTH} nodes.
   *
   * @param k number of hits, at least 1
   */
  public static WalkParameters defaults(int k) {
    return exact(Math.min(Math.max(k, MIN_DEFAULT_BEAM_WIDTH), MAX_BEAM_WIDTH));
  }

  /** Makes a walk on quantized distances, with one parent per step. */
  public static WalkParameters quantized(int beamWidth, int rerankDepth) {
    return new WalkParameters(beamWidth, Distances.QUANTIZED, 1, rerankDepth);
  }

  /** Returns this walk with another number of parents per step. */
  public WalkParameters withParents(int newParents) {
    return new WalkParameters(beamWidth, distances, newParents, rerankDepth);
  }

  /** Returns this walk on other distances. */
  WalkParameters withDistances(Distances newDistances) {
    return new WalkParameters(beamWidth, newDistances, parents, rerankDepth);
  }

  /** Returns this walk with another beam width, at most {@value #MAX_BEAM_WIDTH}. */
  WalkParameters withBeamWidth(int newBeamWidth) {
    return new WalkParameters(
        Math.min(newBeamWidth, MAX_BEAM_WIDTH), distances, parents, rerankDepth);
  }

  /**
   * Returns the number of nodes that get exact scores for k hits; not for {@link #RERANK_EXPANDED}.
   */
  public int rerankDepth(int k) {
    int depth = rerankDepth == RERANK_DEFAULT ? Math.max(2 * k, MIN_DEFAULT_RERANK) : rerankDepth;
    return Math.max(k, depth);
  }

  private static void check(String name, int value, int min, int max) {
    if (value < min || value > max) {
      throw new IllegalArgumentException(
          name + " must be between " + min + " and " + max + ", got " + value);
    }
  }
}
