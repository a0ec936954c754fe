package dev.vamana.cuda.driver;

/** A kernel of a {@link SimulatedDriver}. */
record SimulatedKernel(String name, SimulatedKernels.Body body) implements CudaDriver.Kernel {

  /** Most dynamic shared memory of a block. */
  static final int SHARED_BYTES_PER_BLOCK = 232_448;

  private static final int SHARED_BYTES_PER_MULTIPROCESSOR = 233_472;
  private static final int REGISTERS = 65_536;
  private static final int REGISTERS_OF_A_THREAD = 128;

  @Override
  public int blocksPerMultiprocessor(int threads, int sharedBytes) {
    if (sharedBytes > SHARED_BYTES_PER_BLOCK || threads > 1024) {
      return 0;
    }
    int byRegisters = Math.max(1, REGISTERS / (REGISTERS_OF_A_THREAD * threads));
    return Math.min(byRegisters, SHARED_BYTES_PER_MULTIPROCESSOR / (sharedBytes + 1024));
  }
}
