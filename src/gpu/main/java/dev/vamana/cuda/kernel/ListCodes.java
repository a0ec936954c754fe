package dev.vamana.cuda.kernel;

/**
 * How a kernel of inverted lists estimates distances: {@code vamana::ListCodes} of
 * native-kernels/include/vamana/lists.h.
 */
public enum ListCodes {
  /** From bits of components: RaBitQ codes. */
  BITS("", 0, 0),
  /** From product quantization codes, with a table of 16-bit entries in shared memory. */
  TABLE("_table", Short.BYTES, 0),
  /** From product quantization codes, with a table of floats in the block's scratch. */
  TABLE_GLOBAL("_global", 0, Float.BYTES);

  private final String kernelName;
  private final int sharedEntryBytes;
  private final int scratchEntryBytes;

  ListCodes(String kernelName, int sharedEntryBytes, int scratchEntryBytes) {
    this.kernelName = kernelName;
    this.sharedEntryBytes = sharedEntryBytes;
    this.scratchEntryBytes = scratchEntryBytes;
  }

  /** Returns the part of a kernel's name that tells the codes. */
  public String kernelName() {
    return kernelName;
  }

  /** Returns the bytes of a query's table in shared memory. */
  int sharedBytes(int subspaces) {
    return subspaces * Limits.CENTROIDS * sharedEntryBytes;
  }

  /** Returns the bytes of a query's table in the scratch of a block. */
  long scratchBytes(int subspaces) {
    return (long) subspaces * Limits.CENTROIDS * scratchEntryBytes;
  }
}
