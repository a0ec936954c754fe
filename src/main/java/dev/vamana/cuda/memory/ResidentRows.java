package dev.vamana.cuda.memory;

/**
 * The exact vectors of a segment where kernels can read them, in ordinal order and as the segment
 * stores them: 32-bit floats or bytes.
 *
 * @param address device address of the first
 * @param stride bytes from one to the next
 * @param onDevice whether they lie in device memory, not in the mapped file
 */
public record ResidentRows(long address, int stride, boolean onDevice) {}
