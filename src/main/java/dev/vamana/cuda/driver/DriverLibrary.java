package dev.vamana.cuda.driver;

/** What a probe asks the driver library before any context exists. */
interface DriverLibrary {

  /** Initializes the driver; its result code, 0 if it worked. */
  int initialize();

  /** What a result code is called. */
  String errorName(int result);

  /** 13000 for CUDA 13.0. */
  int version();

  /** Number of devices. */
  int deviceCount();

  /** Name of a device. */
  String name(int ordinal);

  /** PCI address of a device, as NVML takes it too. */
  String pciBusId(int ordinal);

  /** Device memory in bytes. */
  long totalBytes(int ordinal);

  /** An attribute of a device, by its number in the driver's {@code CUdevice_attribute}. */
  int attribute(int attribute, int ordinal);
}
