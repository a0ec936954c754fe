package dev.vamana.cuda.lists;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.ChunkSizes;
import dev.vamana.cuda.kernel.ListCodes;
import dev.vamana.cuda.kernel.ListMemory;
import dev.vamana.cuda.kernel.ListSearchShape;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.Tuning;
import java.util.List;

/** Chooses the kernel and grid of each launch that searches inverted lists. For one thread. */
public final class ListKernels {

  /** Warps of a block that searches one list after the other. */
  public static final int FEW_WARPS = 4;

  /**
   * Warps of a block that searches one list after the other where tables of product quantization
   * leave a multiprocessor room for few blocks.
   */
  public static final int EIGHT_WARPS = 8;

  /**
   * Warps of a block that searches several lists at once, for items that have a multiprocessor to
   * themselves.
   */
  public static final int MANY_WARPS = 24;

  private static final int WARP = 32;

  /** Most items of a launch that have several blocks each. */
  public static final int MOST_TEAMS = 256;

  private static final int TUNED_MANY = 16;

  // blocks of which more have not been measured to end a search sooner
  private static final int ENOUGH_BLOCKS = 16;

  /**
   * A kernel with its launch configuration.
   *
   * @param kernel the kernel
   * @param threads threads of a block
   * @param blocks number of blocks, if each searches for items by itself
   * @param team number of blocks that search one item together; with more than one, each item has
   *     as many
   * @param memory memory of a block
   */
  public record Choice(
      CudaDriver.Kernel kernel, int threads, int blocks, int team, ListMemory memory) {}

  private final CudaDriver driver;

  /** Makes an instance for one driver. */
  public ListKernels(CudaDriver driver) {
    this.driver = driver;
  }

  /** Returns block sizes of {@link Tuning#WARPS}, one for each kernel of these codes. */
  public static List<Integer> tuned(ListCodes codes) {
    return codes == ListCodes.TABLE
        ? List.of(FEW_WARPS, EIGHT_WARPS, TUNED_MANY)
        : List.of(FEW_WARPS, TUNED_MANY);
  }

  /**
   * Returns the warps of a block for a tuning. A tuning of up to {@link #FEW_WARPS} means few
   * warps. One of {@link #EIGHT_WARPS} means eight if these codes have such a kernel. Others mean
   * many.
   */
  public static int warps(int tuned, ListCodes codes) {
    if (tuned <= FEW_WARPS) {
      return FEW_WARPS;
    }
    return tuned == EIGHT_WARPS && codes == ListCodes.TABLE ? EIGHT_WARPS : MANY_WARPS;
  }

  /** Returns the name of a kernel, for instance {@code list_search_float_table_w4}. */
  public static String name(boolean bytes, ListCodes codes, int warps) {
    return "list_search_" + (bytes ? "byte" : "float") + codes.kernelName() + "_w" + warps;
  }

  private static ListMemory memory(
      ListSearchShape shape, ChunkSizes sizes, ListCodes codes, boolean waves) {
    return ListMemory.of(
        codes,
        sizes.beam(),
        sizes.lists(),
        sizes.dimension(),
        shape.dimension(),
        sizes.subspaces(),
        waves);
  }

  /**
   * Chooses kernel and grid of a launch. Blocks of many warps end a search soonest, but one of them
   * takes a multiprocessor, and they take more memory; where a block has no room for it, it has few
   * warps. Tables of product quantization may be so large that a multiprocessor has room for few
   * blocks of few warps only, which then have twice as many, or many if there is one block; a table
   * that does not fit is in the scratch.
   *
   * @param tuning its warps, one of {@link Tuning#WARPS}, stand for a kernel as {@link #warps}
   *     says; of its tables {@link Policy#TABLE_GLOBAL} has a meaning
   * @param items items of the launch
   * @param others items in flight in other launches
   * @throws GpuException with {@link GpuException.Kind#NOT_SUPPORTED} if no block fits
   */
  public Choice choose(
      ListSearchShape shape, ChunkSizes sizes, Tuning tuning, int items, int others) {
    int multiprocessors = driver.device().multiprocessors();
    int most = driver.device().sharedBytesPerBlock();
    ListCodes codes = codes(shape, sizes, tuning.table());
    int few = codes == ListCodes.TABLE ? few(shape, sizes) : FEW_WARPS;
    boolean alone = items + others <= multiprocessors || few == MANY_WARPS;
    int wanted = tuning.warps() == 0 ? MANY_WARPS : warps(tuning.warps(), codes);
    boolean waves =
        wanted == MANY_WARPS
            && (alone || tuning.warps() > 0)
            && memory(shape, sizes, codes, true).sharedBytes() <= most;
    int own = waves ? MANY_WARPS : wanted == MANY_WARPS ? Math.min(few, EIGHT_WARPS) : wanted;
    ListMemory memory = memory(shape, sizes, codes, waves);
    String name = name(shape.bytes(), codes, own);
    int blocks = memory.sharedBytes() > most ? 0 : blocks(name, own, memory.sharedBytes());
    if (blocks < 1) {
      throw new GpuException(
          GpuException.Kind.NOT_SUPPORTED,
          name + " does not fit with " + memory.sharedBytes() + " shared bytes");
    }
    return new Choice(
        driver.kernel(name),
        own * WARP,
        (int) Math.min(items, (long) multiprocessors * blocks),
        waves ? team(tuning.team(), items, multiprocessors / (items + others)) : 1,
        memory);
  }

  /**
   * Returns the blocks that search one item: one for each multiprocessor that an item has to
   * itself, as far as more of them help.
   */
  private static int team(int tuned, int items, int multiprocessors) {
    if (items > MOST_TEAMS) {
      return 1;
    }
    return tuned > 0 ? tuned : Math.max(1, Math.min(multiprocessors, ENOUGH_BLOCKS));
  }

  private ListCodes codes(ListSearchShape shape, ChunkSizes sizes, Policy table) {
    if (shape.quantized() == false) {
      return ListCodes.BITS;
    }
    boolean fits =
        memory(shape, sizes, ListCodes.TABLE, false).sharedBytes()
            <= driver.device().sharedBytesPerBlock();
    return fits && table != Policy.TABLE_GLOBAL ? ListCodes.TABLE : ListCodes.TABLE_GLOBAL;
  }

  /**
   * Returns the warps of blocks that share a multiprocessor, each with a table: {@link #FEW_WARPS},
   * or {@link #EIGHT_WARPS} if a multiprocessor then has half as many again at least, or {@link
   * #MANY_WARPS} if there is room for one block only.
   */
  private int few(ListSearchShape shape, ChunkSizes sizes) {
    int shared = memory(shape, sizes, ListCodes.TABLE, false).sharedBytes();
    int ofFew = blocks(name(shape.bytes(), ListCodes.TABLE, FEW_WARPS), FEW_WARPS, shared);
    if (ofFew < 2) {
      return MANY_WARPS;
    }
    int ofEight = blocks(name(shape.bytes(), ListCodes.TABLE, EIGHT_WARPS), EIGHT_WARPS, shared);
    return 2 * EIGHT_WARPS * ofEight >= 3 * FEW_WARPS * ofFew ? EIGHT_WARPS : FEW_WARPS;
  }

  private int blocks(String name, int warps, int sharedBytes) {
    return driver.kernel(name).blocksPerMultiprocessor(warps * WARP, sharedBytes);
  }
}
