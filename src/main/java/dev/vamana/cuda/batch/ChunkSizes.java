package dev.vamana.cuda.batch;

/**
 * The memory sizes that a kernel needs for the items of a chunk or of a launch: each is the maximum
 * over the items.
 *
 * @param beam capacity of the worklist
 * @param fresh new neighbours of a step, a multiple of 32
 * @param dimension components of a query
 * @param subspaces subspaces of a code, 0 unless codes are read
 * @param expanded expanded nodes to record, 0 if none
 */
public record ChunkSizes(int beam, int fresh, int dimension, int subspaces, int expanded) {

  static final ChunkSizes NONE = new ChunkSizes(0, 0, 0, 0, 0);

  /** Returns the element-wise maximum. */
  ChunkSizes max(ChunkSizes other) {
    if (equals(other)) {
      return this;
    }
    return new ChunkSizes(
        Math.max(beam, other.beam),
        Math.max(fresh, other.fresh),
        Math.max(dimension, other.dimension),
        Math.max(subspaces, other.subspaces),
        Math.max(expanded, other.expanded));
  }
}
