package dev.vamana.cuda.select;

/**
 * Rows of keys on the device. A key's id is its column.
 *
 * @param keys address of the first row, a multiple of 16
 * @param rows number of rows, at least 1
 * @param n keys of a row, at least 1
 * @param stride floats between rows, a multiple of 4 and at least {@code n}
 */
public record SelectRows(long keys, int rows, int n, int stride) {

  /** Checks the ranges. */
  public SelectRows {
    if (rows < 1 || n < 1) {
      throw new IllegalArgumentException(
          "rows and n must be at least 1, got " + rows + " and " + n);
    }
    if (stride < n || stride % 4 != 0) {
      throw new IllegalArgumentException(
          "stride must be a multiple of 4 and at least " + n + ", got " + stride);
    }
    if (keys % 16 != 0) {
      throw new IllegalArgumentException("keys must be aligned to 16 bytes, got " + keys);
    }
  }

  /** Returns {@code count} rows from {@code first} on. */
  SelectRows slice(int first, int count) {
    long skipped = 4L * first * stride;
    return new SelectRows(keys + skipped, count, n, stride);
  }
}
