package dev.vamana.cuda.kernel;

import dev.vamana.ivf.Estimates;

/**
 * Byte offsets of {@code vamana::Lists} in native-kernels/include/vamana/lists.h, the inverted
 * lists of a segment. Fields are named as there; addresses have 64 bits, other fields 32, in native
 * byte order.
 */
public final class ListsLayout {

  /** Size of the block. */
  public static final int BYTES = 104;

  public static final long CENTROIDS = 0;
  public static final long FACTS = 8;
  public static final long STARTS = 16;
  public static final long NUMBERS = 24;
  public static final long ENTRIES = 32;
  public static final long SIGNS = 40;
  public static final long TURNED = 48;
  public static final long MATRICES = 56;
  public static final long LISTS = 64;
  public static final long PADDED = 68;
  public static final long BITS = 72;
  public static final long ROUNDS = 76;
  public static final long TRANSFORMED = 80;
  public static final long ESTIMATES = 84;
  public static final long SPREAD = 88;
  public static final long QUANTILE = 92;
  public static final long HEAD_BYTES = 96;
  public static final long TAIL_BYTES = 100;

  /** Returns what {@code ESTIMATES} is for a kind of distances. */
  public static int estimates(Estimates kind) {
    return switch (kind) {
      case EUCLIDEAN -> 0;
      case COSINE -> 1;
      case UNIT_PRODUCT -> 2;
      case BYTE_PRODUCT -> 3;
      case MAXIMUM_PRODUCT -> 4;
    };
  }

  private ListsLayout() {}
}
