package dev.vamana.cuda.batch;

import dev.vamana.cuda.kernel.ChunkSizes;
import dev.vamana.cuda.kernel.LaunchShape;
import dev.vamana.cuda.kernel.WalkLayouts.ResultLayout;
import dev.vamana.cuda.lane.DeviceResult;
import dev.vamana.cuda.lane.Ticket;
import dev.vamana.cuda.memory.ResidentSegment;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.List;

/**
 * The ticket of a {@link WalkLane}: items of one call with the same {@link LaunchShape}, packed
 * into one block of pinned memory. {@link Packer} makes chunks.
 */
public final class Chunk extends Ticket {

  /** The count of a result that the device has not written. */
  static final int VOID = -1;

  private static final VarHandle COUNT = ValueLayout.JAVA_INT.varHandle();

  // looking at the results of a larger chunk takes longer than being told that its launch has ended
  private static final int MOST_WATCHED = 32;

  final LaunchShape shape;
  final ChunkSizes sizes;
  final StagingPool.Block block;
  final List<AcceptedBits> bits;
  private final ItemPlan[] plans;
  private final int[] results;
  final int together;
  // results that the lane has seen written; used by its thread alone
  private int seen;
  private boolean running;

  /**
   * Makes a chunk of the calling thread, which waits for it.
   *
   * @param plans the plans of all items of the call
   * @param items indices of the items in their call
   * @param results offset of each item's result in the block
   * @param together items of the call, which arrive in one chunk or several
   */
  Chunk(
      LaunchShape shape,
      ChunkSizes sizes,
      StagingPool.Block block,
      List<ResidentSegment> segments,
      List<AcceptedBits> bits,
      ItemPlan[] plans,
      int[] items,
      int[] results,
      int together) {
    super(segments, items);
    this.shape = shape;
    this.sizes = sizes;
    this.block = block;
    this.bits = bits;
    this.plans = plans;
    this.results = results;
    this.together = together;
  }

  /**
   * Whether the device has written the result of item {@code i}, which can then be read even if the
   * launch goes on. Searches of lists tell only when they have ended.
   */
  public boolean written(int i) {
    return sizes.lists() == 0
        && (int) COUNT.getAcquire(block.segment, results[i] + ResultLayout.COUNT) != VOID;
  }

  /** Whether {@link #allWritten} may become true before the launch has ended. */
  boolean watched() {
    return sizes.lists() == 0 && count() <= MOST_WATCHED;
  }

  /**
   * Whether the device has written all results of a {@link #watched} chunk, and does not touch its
   * memory any more. Asked by the lane's thread, until it is true.
   */
  boolean allWritten() {
    if (watched() == false) {
      return false;
    }
    while (seen < count() && written(seen)) {
      seen++;
    }
    return seen == count();
  }

  @Override
  public DeviceResult result(int i) {
    ItemPlan plan = plans[item(i)];
    MemorySegment source = block.segment;
    long at = results[i];
    int flags = source.get(ValueLayout.JAVA_INT, at + ResultLayout.FLAGS);
    int count = source.get(ValueLayout.JAVA_INT, at + ResultLayout.COUNT);
    long visited =
        Integer.toUnsignedLong(source.get(ValueLayout.JAVA_INT, at + ResultLayout.VISITED));
    int iterations = source.get(ValueLayout.JAVA_INT, at + ResultLayout.ITERATIONS);
    boolean corrupt =
        (flags & ResultLayout.FLAG_CORRUPT) != 0 || count < 0 || count > plan.capacity();
    int[] ordinals = new int[corrupt ? 0 : count];
    float[] scores = new float[ordinals.length];
    block.ints.get(word(at + ResultLayout.ordinals()), ordinals);
    block.floats.get(word(at + ResultLayout.scores(plan.capacity())), scores);
    int size = plan.segment().view().size();
    for (int ordinal : ordinals) {
      corrupt |= ordinal < 0 || ordinal >= size;
    }
    if (corrupt) {
      return DeviceResult.corrupt(visited, iterations);
    }
    return new DeviceResult(
        ordinals,
        scores,
        visited,
        iterations,
        (flags & ResultLayout.FLAG_COMPLETE) != 0,
        (flags & ResultLayout.FLAG_APPROXIMATE) != 0,
        (flags & ResultLayout.FLAG_OVERFLOW) != 0 ? DeviceResult.Fault.OVERFLOW : null);
  }

  /** Returns the number of a 32-bit word of the block. */
  private static int word(long offset) {
    return (int) offset / Integer.BYTES;
  }

  /**
   * Says that the device may still be working on the chunk in a lost context: nobody else gets its
   * memory, which goes with the context.
   */
  void keepMemory() {
    running = true;
  }

  @Override
  protected void free() {
    if (running == false) {
      block.free();
      bits.forEach(AcceptedBits::release);
    }
  }
}
