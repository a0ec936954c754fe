package dev.vamana.cuda.driver;

import jcuda.driver.CUdeviceptr;

/**
 * A device address as the bindings represent it. Their own class cannot be converted from or to a
 * number.
 */
final class DeviceAddress extends CUdeviceptr {

  /** Makes an address for the driver to fill in. */
  DeviceAddress() {}

  /** Wraps an address to pass to the driver. */
  DeviceAddress(long address) {
    super(new CUdeviceptr(), address);
  }

  long address() {
    return getNativePointer() + getByteOffset();
  }
}
