package dev.vamana.cuda.lists;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.ListMemory;
import dev.vamana.cuda.kernel.ListSearchShape;
import java.util.HashMap;
import java.util.Map;

/** Chooses the kernel and grid of each launch that searches inverted lists. For one thread. */
public final class ListKernels {

  /** Warps of a block, of the two kernels that there are for each kind of vectors. */
  public static final int FEW_WARPS = 4;

  /** Warps of a block if every item has a multiprocessor to itself. */
  public static final int MANY_WARPS = 8;

  private static final int WARP = 32;

  /**
   * A kernel with its launch configuration.
   *
   * @param kernel the kernel
   * @param threads threads of a block
   * @param blocks number of blocks
   * @param memory memory of a block
   */
  public record Choice(CudaDriver.Kernel kernel, int threads, int blocks, ListMemory memory) {}

  private record Occupancy(String kernel, int sharedBytes) {}

  private final CudaDriver driver;
  private final Map<String, CudaDriver.Kernel> kernels = new HashMap<>();
  private final Map<Occupancy, Integer> occupancies = new HashMap<>();

  /** Makes an instance for one driver. */
  public ListKernels(CudaDriver driver) {
    this.driver = driver;
  }

  /** Returns the name of a kernel, for instance {@code list_search_float_w4}. */
  public static String name(boolean bytes, int warps) {
    return "list_search_" + (bytes ? "byte" : "float") + "_w" + warps;
  }

  /**
   * Chooses kernel and grid of a launch. Blocks of many warps end a search soonest, but fewer of
   * them fit the device at once.
   *
   * @param memory memory of a block
   * @param warps warps of a block, or 0 to choose
   * @param items items of the launch
   * @param others items in flight in other launches
   * @throws GpuException with {@link GpuException.Kind#NOT_SUPPORTED} if no block fits
   */
  public Choice choose(ListSearchShape shape, ListMemory memory, int warps, int items, int others) {
    int multiprocessors = driver.device().multiprocessors();
    int few = items + others <= multiprocessors ? MANY_WARPS : FEW_WARPS;
    int own = warps == 0 ? few : warps <= FEW_WARPS ? FEW_WARPS : MANY_WARPS;
    String name = name(shape.bytes(), own);
    int blocks =
        memory.sharedBytes() > driver.device().sharedBytesPerBlock()
            ? 0
            : blocks(name, own, memory.sharedBytes());
    if (blocks < 1) {
      throw new GpuException(
          GpuException.Kind.NOT_SUPPORTED,
          name + " does not fit with " + memory.sharedBytes() + " shared bytes");
    }
    return new Choice(
        kernel(name), own * WARP, (int) Math.min(items, (long) multiprocessors * blocks), memory);
  }

  private CudaDriver.Kernel kernel(String name) {
    CudaDriver.Kernel kernel = kernels.get(name);
    if (kernel == null) {
      kernel = driver.kernel(name);
      kernels.put(name, kernel);
    }
    return kernel;
  }

  private int blocks(String name, int warps, int sharedBytes) {
    Occupancy key = new Occupancy(name, sharedBytes);
    Integer known = occupancies.get(key);
    if (known == null) {
      known = kernel(name).blocksPerMultiprocessor(warps * WARP, sharedBytes);
      occupancies.put(key, known);
    }
    return known;
  }
}
