package dev.vamana.cuda.driver;

import jcuda.Pointer;

/** A host address in the bindings' terms, which otherwise take byte buffers below 2 GiB only. */
final class HostAddress extends Pointer {
  HostAddress(long address) {
    super(address);
  }
}
