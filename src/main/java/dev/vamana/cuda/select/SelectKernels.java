package dev.vamana.cuda.select;

import java.util.List;

/** Names and sizes of the kernels in native-kernels/src/select_*.cu. */
final class SelectKernels {

  /** Threads of the kernels of Sample Select that read parts of rows. */
  static final int SPLIT_THREADS = 256;

  /** Threads of {@code select_radix} and of the other kernels of Sample Select. */
  static final int LARGE_THREADS = 512;

  /** Shared memory of these kernels: a list of 4,096 pairs. */
  static final int LARGE_SHARED_BYTES = 8 * 4_096;

  /** Results that {@code select_sort_4096} and a block of {@code select_sort_merge} write. */
  static final int TILE = 4_096;

  /** Results that {@code select_sort_16384} sorts at once. */
  static final int LARGE_TILE = 16_384;

  /** Lengths of lists for which there is a kernel {@code select_bits_<length>}. */
  static final List<Integer> LISTS = List.of(512, 1_024, 2_048, 4_096);

  private SelectKernels() {}

  /** Returns the threads of {@code select_bits_<size>}. */
  static int bitsThreads(int size) {
    return size <= 2_048 ? 256 : 512;
  }
}
