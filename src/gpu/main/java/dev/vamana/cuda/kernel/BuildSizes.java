package dev.vamana.cuda.kernel;

import dev.vamana.cuda.kernel.WalkLayouts.ResultLayout;

/** Sizes shared by the kernels that build graphs and the code that launches them. */
public final class BuildSizes {

  /** Bytes of the counters. */
  public static final int COUNTER_BYTES = 16;

  /** Bytes of a run, the edges that came to a node. */
  public static final int RUN_BYTES = 16;

  /**
   * Edges that {@code build_append} sorts, that {@code build_merge} compares at a time, and
   * candidates that it keeps.
   */
  public static final int CHUNK = 256;

  private BuildSizes() {}

  /** Returns the bytes of a walk's result with room for {@code beam} hits. */
  public static long resultBytes(int beam) {
    return (ResultLayout.bytes(beam) + 15) & ~15L;
  }

  /** Returns the dynamic shared memory of a block that chooses among candidates. */
  public static int sharedBytes(int dimension, int candidates) {
    return SharedLayout.up16(dimension) * Float.BYTES
        + candidates * (Long.BYTES + Integer.BYTES)
        + Limits.MAX_DEGREE * Integer.BYTES
        + 16;
  }
}
