package dev.vamana.cuda.driver;

/**
 * What a device is.
 *
 * @param ordinal number of the device, from 0
 * @param name as the driver tells it
 * @param computeCapability ten times major plus minor, 90 for 9.0
 * @param multiprocessors streaming multiprocessors
 * @param sharedBytesPerBlock most dynamic shared memory of a block
 * @param totalBytes device memory
 * @param driverVersion as the driver tells it, 13000 for CUDA 13.0
 */
public record DeviceInfo(
    int ordinal,
    String name,
    int computeCapability,
    int multiprocessors,
    int sharedBytesPerBlock,
    long totalBytes,
    int driverVersion) {}
