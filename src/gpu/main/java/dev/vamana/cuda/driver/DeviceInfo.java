package dev.vamana.cuda.driver;

/**
 * The properties of a device.
 *
 * @param ordinal number of the device, from 0
 * @param name name reported by the driver
 * @param computeCapability ten times major plus minor, for instance 90 for 9.0
 * @param multiprocessors number of streaming multiprocessors
 * @param sharedBytesPerBlock most dynamic shared memory of a block, in bytes
 * @param cacheBytes second-level cache, in bytes
 * @param totalBytes device memory in bytes
 * @param driverVersion version reported by the driver, for instance 13000 for CUDA 13.0
 * @param uuid UUID as {@code nvidia-smi -L} prints it, of a part of a device its {@code MIG-} one;
 *     null if unknown
 */
public record DeviceInfo(
    int ordinal,
    String name,
    int computeCapability,
    int multiprocessors,
    int sharedBytesPerBlock,
    int cacheBytes,
    long totalBytes,
    int driverVersion,
    String uuid) {}
