package dev.vamana.cuda.driver;

import jcuda.driver.CUdeviceptr;

/** A device address in the bindings' terms: their own class offers no way from or to a number. */
final class DeviceAddress extends CUdeviceptr {

  /** Takes an address from the driver. */
  DeviceAddress() {}

  /** Passes an address to the driver. */
  DeviceAddress(long address) {
    super(new CUdeviceptr(), address);
  }

  long address() {
    return getNativePointer() + getByteOffset();
  }
}
