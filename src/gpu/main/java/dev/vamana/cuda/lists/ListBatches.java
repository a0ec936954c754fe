package dev.vamana.cuda.lists;

import dev.vamana.cuda.driver.Cleanup;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.ListBatchSizes;
import dev.vamana.cuda.kernel.ListCodes;
import dev.vamana.cuda.kernel.ListLayouts.ListBatchLayout;
import dev.vamana.cuda.kernel.ListLayouts.ListSearchLayout;
import dev.vamana.cuda.kernel.ListMemory;
import dev.vamana.cuda.kernel.Tuning;
import dev.vamana.cuda.kernel.WalkLayouts.ItemLayout;
import dev.vamana.cuda.kernel.WalkLayouts.WalkLayout;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.ivf.ListShape;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Searches of the inverted lists of one segment by many items together: a sequence of kernels that
 * reads each list once for all items that search it. docs/internals/ivf-gpu.md has the steps.
 * Sequences of several streams share the memory, so one runs after the other. For one thread.
 */
public final class ListBatches implements AutoCloseable {

  /** Most device memory: room for 65,536 items of 128 dimensions. */
  public static final long MAX_BYTES = 2L << 30;

  // a sixteenth of the device's memory, if that is less
  private static final int PARTS_OF_DEVICE = 16;

  // more than what rounding of all parts of the memory adds
  private static final long ROUNDED_UP = 4096;

  private static final long MAX_REST_BYTES = 64L << 20;

  // an eighth of all is for keys of lists, by which they are put in order
  private static final int PARTS_OF_KEYS = 8;
  private static final int MEASURED_ITEMS = 128;
  private static final int MEASURED_LISTS = 128;
  // of a search of a few candidates, about; narrower searches are as long
  private static final int LISTS_SEARCHED = 48;

  // from measurements on an H100: 764,000 vectors lose with 1,000 items and win a little with
  // 10,000, 10 million win 1.4 times and 100 million 2.3 times with 10,000
  private static final int LEAST_SHARING = 4;
  private static final long LEAST_ENTRIES = 200_000_000;
  // a wave with the rest of the nearest list, and no other list
  private static final int WAVE_OF_PIECES = 0;
  // lists of an item that each later step searches; the last number repeats
  private static final int[] WAVES = {4, 16, 32, 24, 40, 64, 64};
  private static final int NARROW = 12;
  private static final int WIDTH_OF_WAVE = 16;
  private static final int LEAST_ROOM = 512;
  private static final int ROOM_OF_WIDTH = 24;
  private static final int ITEM_THREADS = 64;
  private static final int KEEP_THREADS = 128;
  private static final int ESTIMATE_THREADS = 128;
  private static final int REST_THREADS = 128;
  private static final int PAIR_THREADS = 256;
  private static final int MEASURE_THREADS = 256;
  private static final int SCAN_THREADS = 1024;

  /** Searches that go on one by one after the device had no memory, before it is asked again. */
  static final int WITHOUT = 256;

  /**
   * Items to search together.
   *
   * @param count number of items
   * @param bytes whether vectors have bytes, rather than floats
   * @param width largest width of the items
   * @param size vectors of the segment
   * @param lists lists of the segment
   * @param dimension dimension of the segment
   * @param padded components of its rotated vectors
   * @param segment address of its descriptor
   */
  public record Items(
      int count,
      boolean bytes,
      int width,
      int size,
      int lists,
      int dimension,
      int padded,
      long segment) {

    private boolean share(int together, int sharing) {
      return wanted(together, size, lists, sharing);
    }
  }

  /**
   * Where items of a launch are.
   *
   * @param address device address of the first, or of the items' addresses
   * @param sideBySide whether it is that of the first, and others follow
   */
  public record Places(long address, boolean sideBySide) {

    /** Returns where they are without some at the beginning. */
    Places from(int item) {
      return new Places(
          address + (long) item * (sideBySide ? ItemLayout.BYTES : Long.BYTES), sideBySide);
    }
  }

  /**
   * Memory for items that the steps have left, which blocks search one by one while the next launch
   * begins.
   *
   * @param address of {@link #restBytes} bytes, 256-byte aligned
   * @param blocks number of blocks
   */
  public record Rest(long address, int blocks) {}

  private final CudaDriver driver;
  private final MemorySegment parameters =
      Arena.ofAuto().allocate(ListBatchLayout.BYTES, Long.BYTES);
  private long busy;
  private boolean begun;
  private final DeviceBuffer memory;
  // searches that do without memory before it is asked for again
  private int without;

  /**
   * Makes an instance for one driver. It allocates nothing yet.
   *
   * @param budget counts device memory
   */
  public ListBatches(CudaDriver driver, DeviceBudget budget) {
    this.driver = driver;
    this.memory = new DeviceBuffer(driver, budget);
  }

  /**
   * Whether searching so many items together is expected to pay, or is asked for.
   *
   * @param size vectors of the segment
   * @param lists lists of the segment
   * @param sharing {@link Tuning#listSharing}
   */
  public static boolean wanted(long count, int size, int lists, int sharing) {
    long searched = count * Math.min(LISTS_SEARCHED, lists);
    if (sharing != Tuning.CHOOSE_SHARING) {
      return sharing > 0 && searched >= (long) sharing * lists;
    }
    return searched >= (long) LEAST_SHARING * lists && searched * size / lists >= LEAST_ENTRIES;
  }

  /**
   * Whether launches of four times as many items are expected to pay: if entries come from the
   * device's memory whenever a launch reads them, since its cache does not hold all of them. 100
   * million vectors with 2.8 GB of entries gain 1.4 times on an H200. 764,000 vectors with 24 MB
   * gain nothing, and smaller launches take less memory.
   */
  public boolean gainsBySize(ListShape shape) {
    return shape.entryBytes() > driver.device().cacheBytes();
  }

  /** Whether an earlier launch still runs. The steps of the next launch would wait for it. */
  public boolean running() {
    return begun && driver.done(busy) == false;
  }

  /**
   * Returns whether items are searched together: if a list is searched by as many of them at least
   * as told, on average, and the device has memory for it.
   *
   * @param sharing {@link Tuning#listSharing}
   */
  public boolean takes(Items items, int sharing) {
    if (items.count < 2
        || items.padded > ListBatchSizes.MAX_PADDED
        || items.share(items.count, sharing) == false) {
      return false;
    }
    ListBatchSizes sizes = sizes(items);
    if (items.share(sizes.count(), sharing) == false) {
      // there is memory for a few at once, which share too little
      return false;
    }
    int most = driver.device().sharedBytesPerBlock();
    return sizes.kept() <= ListBatchSizes.MAX_KEPT
        && sizes.room() <= ListBatchSizes.MAX_ROOM
        && sizes.scoreBytes() <= most
        && sizes.estimateBytes() <= most
        && allocate(sizes.bytes());
  }

  /** Returns the device memory for what is searched one by one, by so many blocks. */
  public static long restBytes(Items items, int blocks) {
    return ListBatchSizes.restBytes(items.count) + blocks * memoryOfRest(items).scratchBytes();
  }

  /** Returns the memory of a block that searches one item. */
  private static ListMemory memoryOfRest(Items items) {
    return ListMemory.of(
        ListCodes.BITS, items.width, items.lists, items.dimension, items.padded, 0, false);
  }

  /** Returns the blocks that search what is left one by one. */
  public int blocksOfRest(Items items) {
    int shared = memoryOfRest(items).sharedBytes();
    int blocks = blocks(name("rest", items), REST_THREADS, shared, items.count);
    long most = MAX_REST_BYTES / memoryOfRest(items).scratchBytes();
    return (int) Math.max(1, Math.min(blocks, most));
  }

  /** Launches all steps for items that {@link #takes} has accepted. */
  public void launch(Items items, Places places, Rest rest, long stream) {
    if (begun) {
      driver.await(busy, stream);
    }
    ListBatchSizes all = sizes(items);
    int parts = (items.count + all.count() - 1) / all.count();
    driver.fill(rest.address, (byte) 0, ListBatchSizes.REST_CONTROL_BYTES, stream);
    int from = 0;
    for (int part = 0; part < parts; part++) {
      int to = (int) ((long) items.count * (part + 1) / parts);
      launch(items, all.withCount(to - from), places.from(from), rest, stream);
      from = to;
    }
    driver.record(busy, stream);
    begun = true;
    driver.launch(
        kernel(name("rest", items)),
        rest.blocks,
        REST_THREADS,
        memoryOfRest(items).sharedBytes(),
        parameters,
        stream);
  }

  private void launch(Items items, ListBatchSizes sizes, Places places, Rest rest, long stream) {
    int count = sizes.count();
    fill(items, sizes, places, rest);
    long words = (long) count * (ItemLayout.BYTES / Integer.BYTES);
    step("items", PAIR_THREADS, 0, divide(words, PAIR_THREADS), stream);
    words = (long) count * divide((long) items.dimension * (items.bytes ? 1 : Float.BYTES), 4);
    step("queries", PAIR_THREADS, 0, divide(words, PAIR_THREADS), stream);
    step(name("prepare", items), ITEM_THREADS, sizes.itemBytes(), count, stream);
    for (int from = 0; from < count; from += sizes.rows()) {
      parameters.set(ValueLayout.JAVA_INT, ListBatchLayout.FROM, from);
      int rows = Math.min(sizes.rows(), count - from);
      long tiles = (long) divide(rows, MEASURED_ITEMS) * divide(sizes.lists(), MEASURED_LISTS);
      step("measure", MEASURE_THREADS, ListBatchSizes.MEASURE_BYTES, tiles, stream);
      step("keep", KEEP_THREADS, ListBatchSizes.KEEP_BYTES, rows, stream);
    }
    step(name("first", items), ITEM_THREADS, sizes.itemBytes(), count, stream);
    wave(items, sizes, 1, WAVE_OF_PIECES, stream);
    int first = 1;
    for (int wave : waves(sizes.kept() - 1)) {
      wave(items, sizes, first, wave, stream);
      first += wave;
    }
  }

  private void wave(Items items, ListBatchSizes sizes, int first, int wave, long stream) {
    int count = sizes.count();
    parameters.set(ValueLayout.JAVA_INT, ListBatchLayout.FIRST, first);
    parameters.set(ValueLayout.JAVA_INT, ListBatchLayout.WAVE, wave);
    long pairs = (long) count * Math.max(1, wave);
    step("count", PAIR_THREADS, 0, divide(pairs, PAIR_THREADS), stream);
    step("scan", SCAN_THREADS, ListBatchSizes.SCAN_BYTES, 1, stream);
    step("place", PAIR_THREADS, 0, count, stream);
    int blocks = blocks("estimate", ESTIMATE_THREADS, sizes.estimateBytes(), pairs);
    step("estimate", ESTIMATE_THREADS, sizes.estimateBytes(), blocks, stream);
    step(name("score", items), ITEM_THREADS, sizes.scoreBytes(), count, stream);
  }

  private void fill(Items items, ListBatchSizes sizes, Places places, Rest rest) {
    MemorySegment p = parameters;
    p.fill((byte) 0);
    long search = ListBatchLayout.SEARCH;
    p.set(ValueLayout.JAVA_LONG, search + ListSearchLayout.ITEMS, places.address);
    p.set(
        ValueLayout.JAVA_INT,
        search + ListSearchLayout.FLAGS,
        places.sideBySide ? WalkLayout.FLAG_SIDE_BY_SIDE : 0);
    p.set(
        ValueLayout.JAVA_LONG,
        search + ListSearchLayout.SCRATCH,
        rest.address + ListBatchSizes.restBytes(items.count));
    p.set(
        ValueLayout.JAVA_LONG,
        search + ListSearchLayout.SCRATCH_STRIDE,
        memoryOfRest(items).scratchBytes());
    p.set(ValueLayout.JAVA_INT, search + ListSearchLayout.COUNT, sizes.count());
    p.set(ValueLayout.JAVA_INT, search + ListSearchLayout.WIDTH, sizes.width());
    p.set(ValueLayout.JAVA_INT, search + ListSearchLayout.LISTS, sizes.lists());
    p.set(ValueLayout.JAVA_INT, search + ListSearchLayout.PADDED, sizes.padded());
    p.set(ValueLayout.JAVA_INT, search + ListSearchLayout.DIMENSION, sizes.dimension());
    p.set(ValueLayout.JAVA_LONG, ListBatchLayout.MEMORY, memory.address());
    p.set(ValueLayout.JAVA_LONG, ListBatchLayout.SEGMENT, items.segment);
    p.set(ValueLayout.JAVA_LONG, ListBatchLayout.REST, rest.address);
    p.set(ValueLayout.JAVA_INT, ListBatchLayout.LISTS, sizes.lists());
    p.set(ValueLayout.JAVA_INT, ListBatchLayout.PADDED, sizes.padded());
    p.set(ValueLayout.JAVA_INT, ListBatchLayout.KEPT, sizes.kept());
    p.set(ValueLayout.JAVA_INT, ListBatchLayout.ROOM, sizes.room());
    p.set(ValueLayout.JAVA_INT, ListBatchLayout.ROWS, sizes.rows());
  }

  /** Launches a step with a block for each piece of work. */
  private void step(String name, int threads, int sharedBytes, long work, long stream) {
    int blocks = (int) Math.min(work, Integer.MAX_VALUE);
    driver.launch(kernel(name), blocks, threads, sharedBytes, parameters, stream);
  }

  /** Returns how many blocks fit the device at once, but no more than there is work for. */
  private int blocks(String name, int threads, int sharedBytes, long work) {
    int fit = kernel(name).blocksPerMultiprocessor(threads, sharedBytes);
    if (fit < 1) {
      throw new GpuException(
          GpuException.Kind.NOT_SUPPORTED,
          name + " does not fit with " + sharedBytes + " shared bytes");
    }
    return (int) Math.min(work, (long) driver.device().multiprocessors() * fit);
  }

  private static String name(String step, Items items) {
    return step + (items.bytes ? "_byte" : "_float");
  }

  private CudaDriver.Kernel kernel(String step) {
    return driver.kernel("list_batch_" + step);
  }

  /** Returns the lists of each step after the first list. */
  static List<Integer> waves(int lists) {
    List<Integer> waves = new ArrayList<>();
    for (int left = lists; left > 0; left -= waves.get(waves.size() - 1)) {
      waves.add(Math.min(left, WAVES[Math.min(waves.size(), WAVES.length - 1)]));
    }
    return waves;
  }

  /** Returns the most memory that searches together take of a device. */
  static long mostBytes(long deviceBytes) {
    return Math.min(MAX_BYTES, deviceBytes / PARTS_OF_DEVICE);
  }

  private ListBatchSizes sizes(Items items) {
    return sizes(items, mostBytes(driver.device().totalBytes()));
  }

  /**
   * Returns the sizes of as many of the items as there is memory for at once.
   *
   * @param most bytes of memory
   */
  static ListBatchSizes sizes(Items items, long most) {
    int further = divide(Math.max(0, items.width - NARROW), WIDTH_OF_WAVE);
    int kept = 1;
    for (int wave : WAVES) {
      kept += wave;
    }
    kept += further * ListBatchSizes.WAVE;
    int room = (LEAST_ROOM + ROOM_OF_WIDTH * items.width + 63) & ~63;
    long keys = most / PARTS_OF_KEYS;
    long rows = keys / ((long) items.lists * Integer.BYTES) / MEASURED_ITEMS * MEASURED_ITEMS;
    ListBatchSizes sizes =
        new ListBatchSizes(
            items.count,
            items.width,
            items.lists,
            items.dimension,
            items.padded,
            Math.min(kept, items.lists),
            room,
            (int) Math.max(MEASURED_ITEMS, Math.min(rows, items.count)));
    if (sizes.bytes() <= most) {
      return sizes;
    }
    long left = most - ROUNDED_UP - (sizes.bytes() - items.count * sizes.bytesOfItem());
    return sizes.withCount((int) Math.max(1, left / sizes.bytesOfItem()));
  }

  private boolean allocate(long bytes) {
    if (bytes <= memory.bytes()) {
      return true;
    }
    if (without > 0) {
      without--;
      return false;
    }
    try {
      if (busy == 0) {
        busy = driver.createEvent();
      }
      if (begun) {
        driver.deadline().await(() -> driver.done(busy));
      }
      memory.ensure(bytes);
      return true;
    } catch (GpuException e) {
      if (e.kind() != GpuException.Kind.OUT_OF_MEMORY) {
        throw e;
      }
      without = WITHOUT;
      return false;
    }
  }

  private static int divide(long value, int by) {
    return (int) Math.min(Integer.MAX_VALUE, (value + by - 1) / by);
  }

  /** Frees driver resources. Nothing may be in flight. */
  @Override
  public void close() {
    Cleanup.all(memory::free, this::destroyEvent);
  }

  private void destroyEvent() {
    if (busy != 0) {
      driver.destroyEvent(busy);
    }
  }
}
