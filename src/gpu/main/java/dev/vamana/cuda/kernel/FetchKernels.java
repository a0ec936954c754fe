package dev.vamana.cuda.kernel;

/** Names of the kernels of host fetch, and what a launch of them takes. */
public final class FetchKernels {

  /** Kernel that makes the distance tables of queries and their empty worklists. */
  public static final String BEGIN = "host_fetch_begin";

  /** Kernel of a step. */
  public static final String STEP = "host_fetch_step";

  /** Threads of a block of each. */
  public static final int THREADS = 128;

  private FetchKernels() {}

  /** Returns the dynamic shared memory of {@link #BEGIN}. */
  public static int beginSharedBytes(int dimension) {
    return ((dimension + 15) & ~15) * Float.BYTES;
  }

  /** Returns the dynamic shared memory of {@link #STEP}. */
  public static int stepSharedBytes(int freshCapacity) {
    return freshCapacity * (Long.BYTES + Integer.BYTES);
  }
}
