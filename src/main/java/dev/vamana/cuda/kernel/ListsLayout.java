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

  /** Address of {@code LISTS} rotated centroids of {@code PADDED} floats, 16-byte aligned. */
  public static final long CENTROIDS = 0;

  /** Address of 16 bytes for each list, as in the file: vectors, radius, squared norm. */
  public static final long FACTS = 8;

  /** Address of the number of groups of places before each list, 32 bits. */
  public static final long STARTS = 16;

  /** Address of the number of the list of each ordinal, 16 bits. */
  public static final long NUMBERS = 24;

  /** Address of the first list, 8-byte aligned. */
  public static final long ENTRIES = 32;

  /**
   * Address of {@code ROUNDS} rows of {@code PADDED} floats: the signs of the rotation; 0 with
   * product quantization.
   */
  public static final long SIGNS = 40;

  /**
   * Address of {@code PADDED} {@link RotatedComponentLayout}s, 16-byte aligned: the rotation of
   * product quantization; 0 with other codes.
   */
  public static final long TURNED = 48;

  /** Address of the floats that {@code TURNED} tells places of. */
  public static final long MATRICES = 56;

  /** Number of lists. */
  public static final long LISTS = 64;

  /** Components of a rotated vector. */
  public static final long PADDED = 68;

  /** Bits of a component of a code; 8 for product quantization. */
  public static final long BITS = 72;

  /** Rounds of the rotation; 0 with product quantization. */
  public static final long ROUNDS = 76;

  /** Components that a round transforms; 0 with product quantization. */
  public static final long TRANSFORMED = 80;

  /** What {@link #estimates} returns. */
  public static final long ESTIMATES = 84;

  /** Root of the mean squared cosine of a query and a member of a list, a float. */
  public static final long SPREAD = 88;

  /** How large errors of estimates by product quantization are, a float; 0 with other codes. */
  public static final long QUANTILE = 92;

  /** Bytes of the head of an entry. */
  public static final long HEAD_BYTES = 96;

  /** Bytes of the tail of an entry, 0 without tails. */
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
