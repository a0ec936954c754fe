package dev.vamana.cuda.select;

import java.util.List;

/** Names and sizes of the kernels in native-kernels/src/select_*.cu. */
final class SelectKernels {

  /** Lengths of a lane's queue for which kernels exist. */
  static final List<Integer> QUEUES = List.of(2, 4, 8);

  /** Threads of the kernels of Sample Select that read parts of rows. */
  static final int SPLIT_THREADS = 256;

  /** Threads of {@code select_radix} and of the other kernels of Sample Select. */
  static final int LARGE_THREADS = 512;

  /** Shared memory of these kernels: a list of 4,096 pairs. */
  static final int LARGE_SHARED_BYTES = 8 * 4_096;

  /** Threads of {@code select_bits_global}, whose list has 4,096 pairs too. */
  static final int GLOBAL_THREADS = 512;

  /** Warps of a block of BlockSelect. */
  static final int BLOCK_WARPS = 4;

  /** Results that {@code select_sort_4096} and a block of {@code select_sort_merge} write. */
  static final int TILE = 4_096;

  /** Results that {@code select_sort_16384} sorts at once. */
  static final int LARGE_TILE = 16_384;

  private static final List<Integer> LISTS = List.of(512, 1_024, 2_048, 4_096, 8_192);
  private static final List<Integer> WARP_SIZES = List.of(32, 128, 256, 512, 1_024);

  private SelectKernels() {}

  /** Returns the list sizes of a family for which kernels exist. */
  static List<Integer> sizes(SelectMethod.Family family) {
    return switch (family) {
      case BITS -> LISTS;
      case WARP, BLOCK -> WARP_SIZES;
      default -> List.of();
    };
  }

  /** Returns the threads of {@code select_bits_<size>}. */
  static int bitsThreads(int size) {
    return size <= 2_048 ? 256 : size <= 4_096 ? 512 : 1_024;
  }

  /** Returns the pairs of a row in {@code select_bits_global} and in the methods for comparison. */
  static int globalSize(int k) {
    return Math.max(32, k == 1 ? 1 : Integer.highestOneBit(k - 1) << 1);
  }
}
