package dev.vamana.cuda.training;

/**
 * Rows of floats in device memory.
 *
 * @param address address of the first row
 * @param stride bytes between rows, a multiple of 4
 * @param count number of rows, at least 1
 * @param dims components of a row, at least 1
 */
public record DeviceRows(long address, int stride, int count, int dims) {

  /** Checks the ranges. */
  public DeviceRows {
    if (count < 1 || dims < 1) {
      throw new IllegalArgumentException(
          "rows and dims must be at least 1, got " + count + " and " + dims);
    }
    if (stride < dims * Float.BYTES || (stride | address) % Float.BYTES != 0) {
      throw new IllegalArgumentException(
          "rows of " + dims + " floats at " + address + " cannot have a stride of " + stride);
    }
  }
}
