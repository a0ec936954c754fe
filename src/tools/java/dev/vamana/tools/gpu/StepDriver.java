package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.ForwardingDriver;
import dev.vamana.cuda.kernel.ListLayouts.ListBatchLayout;
import dev.vamana.cuda.kernel.ListLayouts.ListSearchLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Forwards all calls, and on request says what the steps of searches by many items together take:
 * the kernels {@code list_batch_*}, and {@code list_search_*} for items searched one by one. It
 * either counts, which changes nothing, or waits for each launch, so that the kernels run one after
 * the other. Times include the launch itself, some ten microseconds.
 */
final class StepDriver extends ForwardingDriver {

  private static final String TOGETHER = "list_batch_";
  private static final String ONE_BY_ONE = "list_search_";

  // of vamana::BatchItem in native-kernels/include/vamana/list_batch.h
  private static final int ITEM_BYTES = 128;
  private static final int ENDED = 100;
  private static final int CANDIDATES = 112;

  /** What the driver does with launches. */
  enum Mode {
    FORWARD,
    COUNT,
    TIME
  }

  /**
   * A step, summed up.
   *
   * @param name of the kernel; for the steps of a wave also the lists before it, or that it is of
   *     the pieces of the nearest lists
   * @param launches number of launches
   * @param nanos their time, if it was asked for
   * @param blocks their blocks
   * @param counts what else is known of it, by name
   */
  record Step(String name, int launches, long nanos, long blocks, Map<String, Long> counts) {}

  /** Sums of a step while launches go on. */
  private static final class Sums {
    private int launches;
    private long nanos;
    private long blocks;
    private final Map<String, Long> counts = new LinkedHashMap<>();
  }

  private final Map<String, Sums> steps = new LinkedHashMap<>();
  private final List<Integer> parts = new ArrayList<>();
  private Mode mode = Mode.FORWARD;
  private MemorySegment copy = Arena.ofAuto().allocate(1 << 20, Long.BYTES);

  StepDriver(CudaDriver driver) {
    super(driver);
  }

  /** Begins anew, in a mode. */
  synchronized void start(Mode next) {
    steps.clear();
    parts.clear();
    mode = next;
  }

  /** Forwards from now on, and returns the steps since {@link #start} in their order. */
  synchronized List<Step> stop() {
    mode = Mode.FORWARD;
    List<Step> all = new ArrayList<>();
    steps.forEach(
        (name, sums) ->
            all.add(new Step(name, sums.launches, sums.nanos, sums.blocks, sums.counts)));
    return all;
  }

  /** Returns the items of each part of a launch that went through all steps, since then. */
  synchronized List<Integer> parts() {
    return List.copyOf(parts);
  }

  @Override
  public synchronized void launch(
      Kernel kernel,
      int blocks,
      int threads,
      int sharedBytes,
      MemorySegment parameters,
      long stream) {
    String name = kernel.name();
    if (mode == Mode.FORWARD
        || (name.startsWith(TOGETHER) == false && name.startsWith(ONE_BY_ONE) == false)) {
      super.launch(kernel, blocks, threads, sharedBytes, parameters, stream);
      return;
    }
    boolean together = name.startsWith(TOGETHER);
    String step = together ? name.substring(TOGETHER.length()) : name;
    int first = together ? parameters.get(ValueLayout.JAVA_INT, ListBatchLayout.FIRST) : 0;
    boolean wave = first > 0 && step.startsWith("rest") == false;
    int lists = together ? parameters.get(ValueLayout.JAVA_INT, ListBatchLayout.WAVE) : 0;
    String before = lists == 0 ? "pieces" : String.valueOf(first);
    Sums sums = steps.computeIfAbsent(wave ? step + " @ " + before : step, any -> new Sums());
    sums.launches++;
    sums.blocks += blocks;
    if (step.startsWith("prepare") || together == false) {
      int items = parameters.get(ValueLayout.JAVA_INT, ListSearchLayout.COUNT);
      add(sums, "items", items);
      if (together) {
        parts.add(items);
      }
    }
    if (mode == Mode.COUNT) {
      super.launch(kernel, blocks, threads, sharedBytes, parameters, stream);
      return;
    }
    synchronize(stream);
    if (step.startsWith("rest")) {
      long rest = parameters.get(ValueLayout.JAVA_LONG, ListBatchLayout.REST);
      add(sums, "items", word(rest, stream));
    }
    long start = System.nanoTime();
    super.launch(kernel, blocks, threads, sharedBytes, parameters, stream);
    synchronize(stream);
    sums.nanos += System.nanoTime() - start;
    if (wave) {
      count(step, sums, parameters, stream);
    }
  }

  /** Reads what the steps of a wave have to do. */
  private void count(String step, Sums sums, MemorySegment parameters, long stream) {
    long memory = parameters.get(ValueLayout.JAVA_LONG, ListBatchLayout.MEMORY);
    long lists = parameters.get(ValueLayout.JAVA_INT, ListBatchLayout.LISTS);
    // the parts of vamana::BatchLayout: control, counts, starts, units, cursors, norms, items
    long starts = memory + 256 + up(lists * Integer.BYTES);
    long units = starts + up((lists + 1) * Integer.BYTES);
    long items = units + up((lists + 1) * Integer.BYTES) + 2 * up(lists * Integer.BYTES);
    if (step.equals("scan")) {
      add(sums, "pairs", word(starts + lists * Integer.BYTES, stream));
      add(sums, "units", word(units + lists * Integer.BYTES, stream));
    } else if (step.equals("estimate")) {
      int count = parameters.get(ValueLayout.JAVA_INT, ListSearchLayout.COUNT);
      int room = parameters.get(ValueLayout.JAVA_INT, ListBatchLayout.ROOM);
      MemorySegment all = read(items, (long) count * ITEM_BYTES, stream);
      for (long item = 0; item < all.byteSize(); item += ITEM_BYTES) {
        if (all.get(ValueLayout.JAVA_INT, item + ENDED) == 0) {
          int candidates = all.get(ValueLayout.JAVA_INT, item + CANDIDATES);
          add(sums, "items", 1);
          add(sums, "candidates", candidates);
          add(sums, "without_room", candidates > room ? 1 : 0);
        }
      }
    }
  }

  private static void add(Sums sums, String name, long value) {
    sums.counts.merge(name, value, Long::sum);
  }

  private static long up(long bytes) {
    return (bytes + 255) & ~255L;
  }

  private long word(long address, long stream) {
    return read(address, Integer.BYTES, stream).get(ValueLayout.JAVA_INT, 0);
  }

  private MemorySegment read(long address, long bytes, long stream) {
    if (bytes > copy.byteSize()) {
      copy = Arena.ofAuto().allocate(bytes, Long.BYTES);
    }
    MemorySegment target = copy.asSlice(0, bytes);
    copyFromDevice(target, address, stream);
    synchronize(stream);
    return target;
  }
}
