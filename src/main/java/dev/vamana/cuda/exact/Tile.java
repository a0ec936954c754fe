package dev.vamana.cuda.exact;

/**
 * A subset of the candidates whose rows the device can read.
 *
 * @param rows address of the rows
 * @param stride bytes between rows
 * @param size number of rows
 * @param firstOrdinal ordinal of the first row; 0 with {@code ordinals}
 * @param ordinals address of the candidates' ordinals, or 0 if all rows are candidates
 * @param candidates number of candidates
 * @param packed whether row i is the i-th candidate rather than the row of its ordinal
 */
record Tile(
    long rows,
    int stride,
    int size,
    int firstOrdinal,
    long ordinals,
    int candidates,
    boolean packed) {}
