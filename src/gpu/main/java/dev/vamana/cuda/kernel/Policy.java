package dev.vamana.cuda.kernel;

import java.util.Locale;

/** How a walk kernel computes distances: {@code vamana::Policy}. */
public enum Policy {
  /** Exact distances from float32 vectors. */
  EXACT_F32,
  /** Distances from half-precision copies. */
  EXACT_F16,
  /** Distances from copies of one byte a component. */
  EXACT_BYTE,
  /** Asymmetric distances from a table of 16-bit entries in shared memory. */
  TABLE_HALF,
  /** Asymmetric distances from a float table in shared memory. */
  TABLE_FLOAT,
  /** Asymmetric distances from a float table in the block's scratch in device memory. */
  TABLE_GLOBAL;

  // a name for each number of warps, which is a power of two: each launch asks for several
  @SuppressWarnings("ImmutableEnumChecker") // nobody writes it
  private final String[] names = new String[5];

  Policy() {
    for (int i = 0; i < names.length; i++) {
      names[i] = "walk_" + name().toLowerCase(Locale.ROOT) + "_w" + (1 << i);
    }
  }

  /** Whether the walk reads codes. */
  public boolean quantized() {
    return this == TABLE_HALF || this == TABLE_FLOAT || this == TABLE_GLOBAL;
  }

  /** Returns the bytes of an entry of the distance table in shared memory; 0 without one. */
  public int sharedEntryBytes() {
    return this == TABLE_HALF ? Short.BYTES : this == TABLE_FLOAT ? Float.BYTES : 0;
  }

  /**
   * Returns the name of the kernel for blocks of {@code warps} warps, for instance {@code
   * walk_table_half_w4}.
   */
  public String kernelName(int warps) {
    return names[Integer.numberOfTrailingZeros(warps)];
  }
}
