package dev.vamana.cuda.exact;

/**
 * Some of the candidates, where the device has them.
 *
 * @param rows address of rows
 * @param stride bytes from one to the next
 * @param size number of rows
 * @param firstOrdinal of the first row; 0 with ordinals
 * @param ordinals address of the candidates' ordinals, or 0 if all rows are candidates
 * @param candidates number of candidates
 * @param packed whether the rows are those of the candidates alone, though ordinals name them
 */
record Tile(
    long rows,
    int stride,
    int size,
    int firstOrdinal,
    long ordinals,
    int candidates,
    boolean packed) {}
