package dev.vamana.cuda.memory;

/**
 * The exact vectors of a segment where kernels can read them, in ordinal order and in the segment's
 * format: 32-bit floats or bytes.
 *
 * @param address device address of the first vector
 * @param stride bytes between vectors
 * @param onDevice whether they are in device memory; false if in the mapped file
 */
public record ResidentRows(long address, int stride, boolean onDevice) {}
