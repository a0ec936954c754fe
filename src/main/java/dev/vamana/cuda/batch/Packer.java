package dev.vamana.cuda.batch;

import dev.vamana.cuda.kernel.ItemLayout;
import dev.vamana.cuda.kernel.LaunchShape;
import dev.vamana.cuda.kernel.ResultLayout;
import dev.vamana.cuda.lane.HeldSegment;
import dev.vamana.search.WorkItem;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;
import org.apache.lucene.util.Bits;

/**
 * Packs the items of one call into pinned memory in chunks, so that the next chunk is packed while
 * the device works on the last one. The first chunk is small, because the device waits for it; each
 * further one has twice as many items as the one before, up to about a megabyte.
 */
public final class Packer {

  /** A power of two, like the blocks of pinned memory. */
  private static final int CHUNK_BYTES = 1 << 20;

  // a smaller one would be launched before the next is packed, but the launch takes longer than
  // that
  static final int FIRST_ITEMS = 192;
  private static final int LAST_ITEMS = 2_048;

  private final StagingPool staging;
  private final DevicePool pool;
  private final List<WorkItem> batch;
  private final ItemPlan[] plans;
  private final int maxBatch;
  private int nextItems;
  private IdentityHashMap<Bits, AcceptedBits> bits;
  private IdentityHashMap<Bits, Long> lookups;

  /**
   * Makes a packer.
   *
   * @param idle whether the device waits for the first chunk
   */
  Packer(
      StagingPool staging,
      DevicePool pool,
      List<WorkItem> batch,
      ItemPlan[] plans,
      int maxBatch,
      boolean idle) {
    this.staging = staging;
    this.pool = pool;
    this.batch = batch;
    this.plans = plans;
    this.maxBatch = maxBatch;
    this.nextItems = idle ? FIRST_ITEMS : BatchOptions.MAX_BATCH;
  }

  /**
   * Returns the end of the chunk that begins at {@code from}. A rest that is too small for a chunk
   * of its own belongs to it.
   *
   * @param items indices of items of one shape
   * @param to number of these items
   */
  public int end(int[] items, int from, int to) {
    int most = to - from <= nextItems + nextItems / 2 ? to - from : nextItems;
    most = Math.min(most, maxBatch);
    long bytes = 0;
    int i = from;
    while (i < to && i - from < most) {
      bytes += bytes(items[i]);
      if (bytes > CHUNK_BYTES && i > from) {
        break;
      }
      i++;
    }
    return i;
  }

  /** Lets the next chunk be larger, after one was packed. */
  private void grow() {
    nextItems = Math.max(nextItems, Math.min(2 * nextItems, LAST_ITEMS));
  }

  /**
   * Packs items from..to-1 into a chunk.
   *
   * @return the chunk, or null if pinned memory is in use
   * @throws dev.vamana.cuda.driver.GpuException if the account refuses the memory
   */
  public Chunk pack(LaunchShape shape, int[] items, int from, int to) {
    long bytes = 0;
    for (int i = from; i < to; i++) {
      bytes += bytes(items[i]);
    }
    List<AcceptedBits> used = new ArrayList<>();
    StagingPool.Block block = null;
    try {
      block = bring(items, from, to, used) ? staging.allocate(bytes) : null;
    } finally {
      if (block == null) {
        used.forEach(AcceptedBits::release);
      }
    }
    if (block == null) {
      return null;
    }
    int count = to - from;
    int[] packed = new int[count];
    int[] results = new int[count];
    List<HeldSegment> segments = new ArrayList<>();
    ChunkSizes sizes = ChunkSizes.NONE;
    HeldSegment last = null;
    int at = up16(count * ItemLayout.BYTES);
    for (int i = 0; i < count; i++) {
      packed[i] = items[from + i];
      ItemPlan plan = plans[packed[i]];
      sizes = sizes.max(plan.sizes());
      if (plan.segment() != last) {
        last = plan.segment();
        if (segments.contains(last) == false) {
          last.hold();
          segments.add(last);
        }
      }
      at = write(block, i, packed[i], plan, at, results);
    }
    grow();
    return new Chunk(shape, sizes, block, segments, used, plans, packed, results, batch.size());
  }

  /** Frees bitsets that no chunk uses. */
  public void close() {
    if (bits != null) {
      bits.values().forEach(AcceptedBits::release);
      bits = null;
    }
  }

  private int write(
      StagingPool.Block block, int i, int index, ItemPlan plan, int start, int[] results) {
    WorkItem item = batch.get(index);
    MemorySegment target = block.segment();
    long base = block.deviceAddress();
    long header = (long) i * ItemLayout.BYTES;
    int at = start;
    target.set(ValueLayout.JAVA_LONG, header + ItemLayout.SEGMENT, plan.segment().descriptor());
    target.set(ValueLayout.JAVA_LONG, header + ItemLayout.QUERY, base + at);
    float[] floats = item.query().floats();
    if (floats != null) {
      MemorySegment.copy(floats, 0, target, ValueLayout.JAVA_FLOAT, at, floats.length);
      at += up16(floats.length * Float.BYTES);
    } else {
      byte[] bytes = item.query().bytes();
      MemorySegment.copy(bytes, 0, target, ValueLayout.JAVA_BYTE, at, bytes.length);
      at += up16(bytes.length);
    }
    int[] entries = item.entryPoints();
    target.set(ValueLayout.JAVA_LONG, header + ItemLayout.ENTRY_POINTS, base + at);
    MemorySegment.copy(entries, 0, target, ValueLayout.JAVA_INT, at, entries.length);
    at += up16(entries.length * Integer.BYTES);
    Bits accepted = item.acceptedOrdinals();
    target.set(
        ValueLayout.JAVA_LONG,
        header + ItemLayout.ACCEPTED,
        accepted == null ? 0 : bits.get(accepted).deviceAddress());
    target.set(ValueLayout.JAVA_LONG, header + ItemLayout.RESULT, base + at);
    target.set(ValueLayout.JAVA_INT, header + ItemLayout.ENTRY_COUNT, entries.length);
    target.set(ValueLayout.JAVA_INT, header + ItemLayout.K, plan.k());
    target.set(ValueLayout.JAVA_INT, header + ItemLayout.BEAM, plan.beam());
    target.set(ValueLayout.JAVA_INT, header + ItemLayout.PARENTS, item.walk().parents());
    target.set(ValueLayout.JAVA_INT, header + ItemLayout.RERANK, plan.rerank());
    target.set(ValueLayout.JAVA_INT, header + ItemLayout.VISIT_LIMIT, plan.visitLimit());
    target.set(ValueLayout.JAVA_INT, header + ItemLayout.CAPACITY, plan.capacity());
    // marks the result as void until the device writes it
    target.set(ValueLayout.JAVA_INT, at + ResultLayout.COUNT, -1);
    results[i] = at;
    return at + resultBytes(plan);
  }

  /** Copies the items' bitsets that have not been copied yet. */
  @SuppressWarnings("ReferenceEquality") // identity: the same bitset object, not an equal one
  private boolean bring(int[] items, int from, int to, List<AcceptedBits> used) {
    Bits last = null;
    for (int i = from; i < to; i++) {
      Bits accepted = batch.get(items[i]).acceptedOrdinals();
      if (accepted == null || accepted == last) {
        continue;
      }
      last = accepted;
      if (bits == null) {
        bits = new IdentityHashMap<>();
        countLookups();
      }
      AcceptedBits copy = bits.get(accepted);
      if (copy == null) {
        int size = batch.get(items[i]).segment().size();
        copy = AcceptedBits.copy(accepted, size, lookups.get(accepted), staging, pool);
        if (copy == null) {
          return false;
        }
        bits.put(accepted, copy);
      }
      if (used.contains(copy) == false) {
        copy.acquire();
        used.add(copy);
      }
    }
    return true;
  }

  private void countLookups() {
    lookups = new IdentityHashMap<>();
    for (int i = 0; i < plans.length; i++) {
      Bits accepted = plans[i] == null ? null : batch.get(i).acceptedOrdinals();
      if (accepted != null) {
        lookups.merge(accepted, (long) plans[i].beam(), Long::sum);
      }
    }
  }

  private int bytes(int index) {
    WorkItem item = batch.get(index);
    int query =
        item.query().floats() != null
            ? item.query().dimension() * Float.BYTES
            : item.query().dimension();
    return up16(ItemLayout.BYTES)
        + up16(query)
        + up16(item.entryPoints().length * Integer.BYTES)
        + resultBytes(plans[index]);
  }

  private static int resultBytes(ItemPlan plan) {
    return up16((int) ResultLayout.bytes(plan.capacity()));
  }

  private static int up16(int value) {
    return (value + 15) & ~15;
  }
}
