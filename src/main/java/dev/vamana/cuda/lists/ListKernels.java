package dev.vamana.cuda.lists;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.ListCodes;
import dev.vamana.cuda.kernel.ListMemory;
import dev.vamana.cuda.kernel.ListSearchShape;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.Tuning;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Chooses the kernel and grid of each launch that searches inverted lists. For one thread. */
public final class ListKernels {

  /** Warps of a block that searches one list after the other. */
  public static final int FEW_WARPS = 4;

  /**
   * Warps of a block that searches several lists at once, for items that have a multiprocessor to
   * themselves.
   */
  public static final int MANY_WARPS = 24;

  /**
   * Block sizes of {@link Tuning#WARPS} for either kernel: up to {@link #FEW_WARPS} for few warps,
   * more for many.
   */
  public static final List<Integer> TUNED = List.of(FEW_WARPS, 16);

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

  /** Returns the warps of a block where a tuning says so many. */
  public static int warps(int tuned) {
    return isMany(tuned) ? MANY_WARPS : FEW_WARPS;
  }

  /** Returns the name of a kernel, for instance {@code list_search_float_table_w4}. */
  public static String name(boolean bytes, ListCodes codes, int warps) {
    return "list_search_" + (bytes ? "byte" : "float") + codes.kernelName() + "_w" + warps;
  }

  /**
   * Sizes that a block has memory for.
   *
   * @param width largest width of the items
   * @param lists most lists of the items
   * @param dimension largest dimension of the items
   * @param subspaces most subspaces of the items' codes; 0 without product quantization
   */
  public record Sizes(int width, int lists, int dimension, int subspaces) {
    ListMemory memory(ListSearchShape shape, ListCodes codes, boolean waves) {
      return ListMemory.of(codes, width, lists, dimension, shape.dimension(), subspaces, waves);
    }
  }

  /**
   * Chooses kernel and grid of a launch. Blocks of many warps end a search soonest, but one of them
   * takes a multiprocessor, and they take more memory; where a block has no room for it, it has few
   * warps. Tables of product quantization may be so large that a multiprocessor has room for one
   * block of few warps only, which then has many; a table that does not fit is in the scratch.
   *
   * @param tuning its warps, one of {@link Tuning#WARPS}, stand for a kernel as in {@link #TUNED};
   *     of its tables {@link Policy#TABLE_GLOBAL} has a meaning
   * @param items items of the launch
   * @param others items in flight in other launches
   * @throws GpuException with {@link GpuException.Kind#NOT_SUPPORTED} if no block fits
   */
  public Choice choose(ListSearchShape shape, Sizes sizes, Tuning tuning, int items, int others) {
    int multiprocessors = driver.device().multiprocessors();
    int most = driver.device().sharedBytesPerBlock();
    ListCodes codes = codes(shape, sizes, tuning.table());
    boolean alone = items + others <= multiprocessors || crowded(shape, sizes, codes);
    boolean waves =
        (tuning.warps() == 0 ? alone : isMany(tuning.warps()))
            && sizes.memory(shape, codes, true).sharedBytes() <= most;
    int own = waves ? MANY_WARPS : FEW_WARPS;
    ListMemory memory = sizes.memory(shape, codes, waves);
    String name = name(shape.bytes(), codes, own);
    int blocks = memory.sharedBytes() > most ? 0 : blocks(name, own, memory.sharedBytes());
    if (blocks < 1) {
      throw new GpuException(
          GpuException.Kind.NOT_SUPPORTED,
          name + " does not fit with " + memory.sharedBytes() + " shared bytes");
    }
    return new Choice(
        kernel(name), own * WARP, (int) Math.min(items, (long) multiprocessors * blocks), memory);
  }

  private ListCodes codes(ListSearchShape shape, Sizes sizes, Policy table) {
    if (shape.quantized() == false) {
      return ListCodes.BITS;
    }
    boolean fits =
        sizes.memory(shape, ListCodes.TABLE, false).sharedBytes()
            <= driver.device().sharedBytesPerBlock();
    return fits && table != Policy.TABLE_GLOBAL ? ListCodes.TABLE : ListCodes.TABLE_GLOBAL;
  }

  /** Whether a table leaves no room for a second block of few warps. */
  private boolean crowded(ListSearchShape shape, Sizes sizes, ListCodes codes) {
    if (codes != ListCodes.TABLE) {
      return false;
    }
    int shared = sizes.memory(shape, codes, false).sharedBytes();
    return blocks(name(shape.bytes(), codes, FEW_WARPS), FEW_WARPS, shared) < 2;
  }

  private static boolean isMany(int warps) {
    return warps > FEW_WARPS;
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
