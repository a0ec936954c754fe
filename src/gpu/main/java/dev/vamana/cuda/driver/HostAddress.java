package dev.vamana.cuda.driver;

import jcuda.Pointer;

/**
 * A host address as the bindings represent it. Their own classes accept only byte buffers below 2
 * GiB.
 */
final class HostAddress extends Pointer {
  HostAddress(long address) {
    super(address);
  }
}
