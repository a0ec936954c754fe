package dev.vamana.cuda.driver;

import java.lang.foreign.MemorySegment;

/** The kernels of a {@link SimulatedDriver}. */
@FunctionalInterface
public interface SimulatedKernels {

  /** No kernel at all. */
  SimulatedKernels NONE = name -> null;

  /** The kernel of this name, or null. */
  Body find(String name);

  /** A kernel. */
  @FunctionalInterface
  interface Body {
    /**
     * Runs all blocks. What it throws traps the kernel, which loses the context.
     *
     * @param parameters the kernel's parameter block, which stays as it is while this runs
     */
    void run(int blocks, int threads, int sharedBytes, MemorySegment parameters);
  }
}
