package dev.vamana.search;

/**
 * Change by an index or a request to the walks of queries that bring no parameters of their own.
 *
 * @param beamWidth least beam width, 1 to {@link WalkParameters#MAX_BEAM_WIDTH}; 0 leaves it as it
 *     is
 * @param parents unexpanded nodes that are expanded together in one step, 1 to {@link
 *     WalkParameters#MAX_PARENTS}; 0 leaves it as it is
 * @param rerankDepth number of nodes that get exact scores after a walk on quantized distances, 1
 *     to {@link WalkParameters#MAX_BEAM_WIDTH}; 0 leaves it as it is
 */
public record WalkChange(int beamWidth, int parents, int rerankDepth) {

  /** Leaves walks as they are. */
  public static final WalkChange NONE = new WalkChange(0, 0, 0);

  public WalkChange {
    check("beamWidth", beamWidth, WalkParameters.MAX_BEAM_WIDTH);
    check("parents", parents, WalkParameters.MAX_PARENTS);
    check("rerankDepth", rerankDepth, WalkParameters.MAX_BEAM_WIDTH);
  }

  private static void check(String name, int value, int max) {
    if (value < 0 || value > max) {
      throw new IllegalArgumentException(name + " must be between 0 and " + max + ", got " + value);
    }
  }

  /** Whether it leaves walks as they are. */
  public boolean isNone() {
    return equals(NONE);
  }

  /** Returns the changed walk. */
  public WalkParameters applyTo(WalkParameters walk) {
    return new WalkParameters(
        Math.max(walk.beamWidth(), beamWidth),
        walk.distances(),
        parents == 0 ? walk.parents() : parents,
        rerankDepth == 0 ? walk.rerankDepth() : rerankDepth);
  }

  /** Returns this change, with another's values where this one has none. */
  public WalkChange orElse(WalkChange other) {
    return new WalkChange(
        beamWidth == 0 ? other.beamWidth : beamWidth,
        parents == 0 ? other.parents : parents,
        rerankDepth == 0 ? other.rerankDepth : rerankDepth);
  }
}
