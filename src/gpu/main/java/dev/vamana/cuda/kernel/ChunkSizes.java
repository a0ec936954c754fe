package dev.vamana.cuda.kernel;

/**
 * Facts that a kernel needs about the items of a chunk or of a launch together: the memory sizes,
 * each the maximum over the items, and whether one of them has a visit limit.
 *
 * @param beam capacity of the worklist
 * @param fresh new neighbours of a step, a multiple of 32
 * @param dimension components of a query
 * @param subspaces subspaces of a code, 0 unless codes are read
 * @param expanded expanded nodes to record, 0 if none
 * @param lists inverted lists of a segment, 0 for walks
 * @param limited whether a visit limit may end a walk
 */
public record ChunkSizes(
    int beam, int fresh, int dimension, int subspaces, int expanded, int lists, boolean limited) {

  public static final ChunkSizes NONE = new ChunkSizes(0, 0, 0, 0, 0, 0, false);

  /** Makes the sizes of walks. */
  public ChunkSizes(
      int beam, int fresh, int dimension, int subspaces, int expanded, boolean limited) {
    this(beam, fresh, dimension, subspaces, expanded, 0, limited);
  }

  /** Returns what both need together. */
  public ChunkSizes max(ChunkSizes other) {
    if (equals(other)) {
      return this;
    }
    return new ChunkSizes(
        Math.max(beam, other.beam),
        Math.max(fresh, other.fresh),
        Math.max(dimension, other.dimension),
        Math.max(subspaces, other.subspaces),
        Math.max(expanded, other.expanded),
        Math.max(lists, other.lists),
        limited || other.limited);
  }
}
