package dev.vamana.cuda.driver;

/** Properties of the device of a {@link SimulatedDriver}. */
final class SimulatedDevice {

  // the cache has room for the lists of 2,000 vectors of 24 components, but not of 3,000, so that
  // tests of few vectors meet both lists that fit and lists that do not
  private static final int CACHE_BYTES = 64 << 10;

  private SimulatedDevice() {}

  static DeviceInfo info(int ordinal, int computeCapability, int sharedBytes, long bytes) {
    return new DeviceInfo(
        ordinal,
        "simulated",
        computeCapability,
        4,
        sharedBytes,
        CACHE_BYTES,
        bytes,
        13_000,
        uuid(ordinal));
  }

  private static String uuid(int ordinal) {
    return "GPU-0000000" + ordinal + "-0000-0000-0000-000000000000";
  }
}
