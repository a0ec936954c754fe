package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::Build} in native-kernels/include/vamana/build.h, the parameter of
 * the kernels that build graphs. Fields are named as there; addresses have 64 bits, other fields
 * 32, in native byte order.
 */
public final class BuildLayout {

  /** Size of the block. */
  public static final int BYTES = 152;

  public static final long SEGMENT = 0;
  public static final long VECTORS = 8;
  public static final long GRAPH = 16;
  public static final long NODES = 24;
  public static final long FOUND = 32;
  public static final long ITEMS = 40;
  public static final long ADDRESSES = 48;
  public static final long COUNTERS = 56;
  public static final long ARRIVALS = 64;
  public static final long STARTS = 72;
  public static final long RUNS = 80;
  public static final long SOURCES = 88;
  public static final long INVERSE_NORMS = 96;
  public static final long FIRST = 104;
  public static final long COUNT = 108;
  public static final long SIZE = 112;
  public static final long DIMENSION = 116;
  public static final long VECTOR_STRIDE = 120;
  public static final long GRAPH_STRIDE = 124;
  public static final long MAX_DEGREE = 128;
  public static final long SLOTS = 132;
  public static final long BEAM = 136;
  public static final long PARENTS = 140;
  public static final long CANDIDATES = 144;
  public static final long ALPHA = 148;

  private BuildLayout() {}
}
