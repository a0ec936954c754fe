package dev.vamana.cuda.kernel;

import dev.vamana.ivf.Estimates;

/**
 * Byte offsets of {@code vamana::Lists} in native-kernels/include/vamana/lists.h, the inverted
 * lists of a segment. Fields are named as there; addresses have 64 bits, other fields 32, in native
 * byte order.
 */
public final class ListsLayout {

  /** Size of the block. */
  public static final int BYTES = 80;

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

  /** Address of {@code ROUNDS} rows of {@code PADDED} floats: the signs of the rotation. */
  public static final long SIGNS = 40;

  /** Number of lists. */
  public static final long LISTS = 48;

  /** Components of a rotated vector. */
  public static final long PADDED = 52;

  /** Bits of a component of a code. */
  public static final long BITS = 56;

  /** Rounds of the rotation. */
  public static final long ROUNDS = 60;

  /** Components that a round transforms. */
  public static final long TRANSFORMED = 64;

  /** What {@link #estimates} returns. */
  public static final long ESTIMATES = 68;

  /** Root of the mean squared cosine of a query and a member of a list, a float. */
  public static final long SPREAD = 72;

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
