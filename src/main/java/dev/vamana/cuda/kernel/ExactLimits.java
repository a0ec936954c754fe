package dev.vamana.cuda.kernel;

/** Constants of native-kernels/include/vamana/exact_scan.h. */
public final class ExactLimits {

  /** Most hits that a scan of a few queries keeps by itself. */
  public static final int FEW_HITS = 128;

  /** Most blocks of a scan of a few queries. */
  public static final int MOST_PARTS = 512;

  /** Shared memory of a scan of a few queries for each, beside the query itself. */
  public static final int NEAREST_BYTES = 4112;

  private ExactLimits() {}
}
