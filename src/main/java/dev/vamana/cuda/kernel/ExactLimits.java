package dev.vamana.cuda.kernel;

/** Constants of native-kernels/include/vamana/exact_scan.h. */
public final class ExactLimits {

  /** Most hits for which a scan of a few queries selects itself. */
  public static final int FEW_HITS = 128;

  /** Most blocks of a scan of a few queries. */
  public static final int MOST_PARTS = 512;

  /** Shared memory per query of a scan of a few queries, in addition to the query itself. */
  public static final int NEAREST_BYTES = 4112;

  /** Queries and candidates of a tile of products. */
  public static final int TILE = 128;

  /** Bytes of a query or candidate multiplied at a time. */
  public static final int DEPTH = 128;

  /** Stages of the matrix-product pipeline. */
  public static final int STAGES = 3;

  /** Shared memory of a stage. */
  public static final int STAGE_BYTES = 33_792;

  /** Format number: products in half precision. */
  public static final int HALF = 0;

  /** Format number: products of bytes from 0 to 255. */
  public static final int UNSIGNED = 1;

  /** Format number: products of bytes from -128 to 127. */
  public static final int SIGNED = 2;

  private ExactLimits() {}
}
