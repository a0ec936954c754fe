package dev.vamana.cuda.driver;

/** The driver library's functions that {@link DeviceProbe} calls before any context exists. */
interface DriverLibrary {

  /** Initializes the driver and returns its result code, 0 for success. */
  int initialize();

  /** Returns the name of a result code. */
  String errorName(int result);

  /** Returns the CUDA version of the driver, for instance 13000 for CUDA 13.0. */
  int version();

  /** Returns the number of devices. */
  int deviceCount();

  /** Returns the name of a device. */
  String name(int ordinal);

  /** Returns the UUID of a device, or of a part of one, for instance {@code GPU-c2fe...}. */
  String uuid(int ordinal);

  /** Returns the device memory in bytes. */
  long totalBytes(int ordinal);

  /** Returns an attribute of a device, by its number in the driver's {@code CUdevice_attribute}. */
  int attribute(int attribute, int ordinal);
}
