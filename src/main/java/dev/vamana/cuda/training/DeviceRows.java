package dev.vamana.cuda.training;

/**
 * Rows in device memory.
 *
 * @param address address of the first row; 16-byte aligned if rows are bytes
 * @param stride bytes between rows; a multiple of 16 if rows are bytes, else of 4
 * @param count number of rows, at least 1
 * @param dims components of a row, at least 1
 * @param bytes whether components are unsigned bytes instead of floats; the memory behind the last
 *     row must then be readable up to the next multiple of 64 bytes of the row
 */
public record DeviceRows(long address, int stride, int count, int dims, boolean bytes) {

  /** Checks the ranges. */
  public DeviceRows {
    if (count < 1 || dims < 1) {
      throw new IllegalArgumentException(
          "rows and dims must be at least 1, got " + count + " and " + dims);
    }
    int width = bytes ? dims : dims * Float.BYTES;
    int alignment = bytes ? 16 : Float.BYTES;
    if (stride < width || stride % alignment != 0 || address % alignment != 0) {
      throw new IllegalArgumentException(
          "rows of "
              + width
              + " bytes at "
              + address
              + " must be at multiples of "
              + alignment
              + ", got stride "
              + stride);
    }
  }
}
