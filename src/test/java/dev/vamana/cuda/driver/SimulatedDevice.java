package dev.vamana.cuda.driver;

/** What a {@link SimulatedDriver} tells of its device. */
final class SimulatedDevice {

  private SimulatedDevice() {}

  static DeviceInfo info(int ordinal, int computeCapability, int sharedBytes, long bytes) {
    return new DeviceInfo(
        ordinal, "simulated", computeCapability, 4, sharedBytes, bytes, 13_000, uuid(ordinal));
  }

  private static String uuid(int ordinal) {
    return "GPU-0000000" + ordinal + "-0000-0000-0000-000000000000";
  }
}
