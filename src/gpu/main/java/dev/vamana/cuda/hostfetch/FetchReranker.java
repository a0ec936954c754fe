package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.FetchKernels;
import dev.vamana.cuda.kernel.WalkLayouts.FetchGroupLayout;
import dev.vamana.cuda.kernel.WalkLayouts.FetchRerankLayout;
import dev.vamana.cuda.lane.Team;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.PinnedBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;

/**
 * Computes exact scores of the candidates on the device (BANG, section 4.9). Vectors that are not
 * on the device yet are sent in parts through two buffers, so that the CPU copies one part while
 * the device works on the other.
 */
final class FetchReranker {

  private static final long PART_BYTES = 16L << 20;
  private static final int CHUNK = 4;

  private final DriverObjects objects;
  private final CudaDriver driver;
  private final Team team;
  private final Buffer[] buffers;
  private final MemorySegment parameters =
      Arena.ofAuto().allocate(FetchRerankLayout.BYTES, Long.BYTES);
  private FetchLayout layout;
  private long items;
  private int next;

  /** Makes a re-ranker. The calling thread is bound to the driver. */
  FetchReranker(DriverObjects objects, Team team) {
    this.objects = objects;
    this.driver = objects.driver();
    this.team = team;
    this.buffers = new Buffer[] {new Buffer(), new Buffer()};
  }

  private final class Buffer {
    private final long stream = objects.stream();
    private final long used = objects.event();
    private final PinnedBuffer pinned = objects.pinned();
    private final DeviceBuffer device = objects.device();
  }

  /** Slots whose candidates are scored together. */
  private static final class Part {
    private final List<FetchSlot> slots = new ArrayList<>();
    private final List<Integer> numbers = new ArrayList<>();
    private final List<Integer> firsts = new ArrayList<>();
    private int candidates;

    void add(FetchSlot slot, int number) {
      slots.add(slot);
      numbers.add(number);
      firsts.add(candidates);
      candidates += slot.candidateCount;
    }
  }

  /**
   * Scores the candidates of all slots and writes the results to pinned memory.
   *
   * @param itemsAddress address of the items
   * @param between called between parts
   */
  void run(FetchSlot[] slots, FetchLayout layoutOfAll, long itemsAddress, Runnable between) {
    layout = layoutOfAll;
    items = itemsAddress;
    long each = Integer.BYTES * 2L + layout.shape().vectorStride();
    Part part = new Part();
    for (int i = 0; i < slots.length; i++) {
      FetchSlot slot = slots[i];
      if (slot.candidateCount == 0 || slot.failure() != null || slot.corrupt) {
        continue;
      }
      long bytes = bytes(part.slots.size() + 1, part.candidates + slot.candidateCount, each);
      if (part.candidates > 0 && bytes > PART_BYTES) {
        run(part);
        between.run();
        part = new Part();
      }
      if (bytes(1, slot.candidateCount, each) <= PinnedBuffer.MAX_BYTES) {
        part.add(slot, i);
      } else {
        slot.fail(
            new IllegalArgumentException(
                slot.candidateCount + " candidates are more than fit pinned memory"));
      }
    }
    if (part.candidates > 0) {
      run(part);
    }
    for (Buffer buffer : buffers) {
      driver.synchronize(buffer.stream);
    }
  }

  private static long bytes(int groups, long candidates, long each) {
    return FetchGroupLayout.BYTES * (long) groups + candidates * each + 3L * 256;
  }

  private void run(Part part) {
    Buffer buffer = buffers[next];
    next = (next + 1) % buffers.length;
    objects.await(buffer.used);
    int stride = layout.shape().vectorStride();
    int groups = part.slots.size();
    long ordinals = FetchLayout.align((long) groups * FetchGroupLayout.BYTES);
    long rows = ordinals + (long) part.candidates * Integer.BYTES;
    long vectors = FetchLayout.align(rows + (long) part.candidates * Integer.BYTES);
    long bytes = vectors + (long) part.candidates * stride;
    buffer.pinned.ensure(Math.max(bytes, PART_BYTES));
    long address = buffer.device.ensure(Math.max(bytes, PART_BYTES));
    MemorySegment target = buffer.pinned.segment();
    team.forEach(
        groups,
        CHUNK,
        (from, to, worker) -> {
          for (int g = from; g < to; g++) {
            FetchSlot slot = part.slots.get(g);
            int first = part.firsts.get(g);
            long group = (long) g * FetchGroupLayout.BYTES;
            target.set(ValueLayout.JAVA_INT, group + FetchGroupLayout.SLOT, part.numbers.get(g));
            target.set(ValueLayout.JAVA_INT, group + FetchGroupLayout.FIRST, first);
            target.set(ValueLayout.JAVA_INT, group + FetchGroupLayout.COUNT, slot.candidateCount);
            for (int i = 0; i < slot.candidateCount; i++) {
              long at = (first + (long) i) * Integer.BYTES;
              target.set(ValueLayout.JAVA_INT, ordinals + at, slot.candidate(i));
              target.set(ValueLayout.JAVA_INT, rows + at, first + i);
              slot.copyVector(
                  slot.candidate(i), target, vectors + (first + (long) i) * stride, worker);
            }
          }
        });
    driver.copyToDevice(address, target.asSlice(0, bytes), buffer.stream);
    FetchLayout l = layout;
    parameters.set(ValueLayout.JAVA_LONG, FetchRerankLayout.ITEMS, items);
    parameters.set(ValueLayout.JAVA_LONG, FetchRerankLayout.GROUPS, address);
    parameters.set(ValueLayout.JAVA_LONG, FetchRerankLayout.ORDINALS, address + ordinals);
    parameters.set(ValueLayout.JAVA_LONG, FetchRerankLayout.ROWS, address + rows);
    parameters.set(ValueLayout.JAVA_LONG, FetchRerankLayout.VECTORS, address + vectors);
    parameters.set(ValueLayout.JAVA_INT, FetchRerankLayout.COUNT, groups);
    parameters.set(ValueLayout.JAVA_INT, FetchRerankLayout.VECTOR_STRIDE, stride);
    parameters.set(ValueLayout.JAVA_INT, FetchRerankLayout.LIST_CAPACITY, l.k());
    parameters.set(ValueLayout.JAVA_INT, FetchRerankLayout.DIMENSION, l.shape().dimension());
    driver.launch(
        driver.kernel(FetchKernels.RERANK),
        groups,
        FetchKernels.THREADS,
        FetchKernels.rerankSharedBytes(l.k(), l.shape().dimension()),
        parameters,
        buffer.stream);
    driver.record(buffer.used, buffer.stream);
  }
}
