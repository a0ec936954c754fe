package dev.vamana.cuda.batch;

import dev.vamana.cuda.kernel.ChunkSizes;
import dev.vamana.cuda.kernel.LaunchShape;
import dev.vamana.cuda.kernel.WalkLayouts.ItemLayout;
import dev.vamana.cuda.kernel.WalkLayouts.ResultLayout;
import dev.vamana.cuda.lane.Team;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.search.QueryVector;
import dev.vamana.search.WorkItem;
import java.lang.foreign.ValueLayout;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.IdentityHashMap;
import java.util.List;
import org.apache.lucene.util.Bits;

/**
 * Packs the items of one call into pinned memory in chunks, so that the next chunk is packed while
 * the device works on the last one. The first chunk is small, because the device waits for it; each
 * further one has twice as many items as the one before, up to about a megabyte. {@code
 * call.DeviceCall} has one for its call.
 */
public final class Packer {

  /** A power of two, like the blocks of pinned memory. */
  private static final int CHUNK_BYTES = 1 << 20;

  private static final int SHARE_BYTES = 8 << 10;
  // of a chunk that is worth help: it takes a caller about ten microseconds
  private static final int LARGE_BYTES = 64 << 10;

  // a smaller one would be launched before the next is packed, but the launch takes longer than
  // that
  static final int FIRST_ITEMS = 192;

  private static final int LAST_ITEMS = 2_048;

  private static final boolean LITTLE_ENDIAN = ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN;

  private final StagingPool staging;
  private final Team team;
  private final List<WorkItem> batch;
  private final ItemPlan[] plans;
  private final int maxBatch;
  private final long[] header = new long[ItemLayout.BYTES / Long.BYTES];
  private int nextItems;
  // whether a large chunk was packed, and the team may help with the next ones
  private boolean begun;
  private boolean helped;
  private IdentityHashMap<Bits, AcceptedBits> bits;
  private IdentityHashMap<Bits, Long> lookups;
  // of the item that was looked at last
  private WorkItem.Terms terms;
  private ItemPlan plan;
  private int queryBytes;
  private int resultBytes;

  /**
   * Makes a packer.
   *
   * @param team helps with large chunks
   * @param first items of the first chunk; 0 if the device does not wait for it
   */
  Packer(
      StagingPool staging,
      Team team,
      List<WorkItem> batch,
      ItemPlan[] plans,
      int maxBatch,
      int first) {
    this.staging = staging;
    this.team = team;
    this.batch = batch;
    this.plans = plans;
    this.maxBatch = maxBatch;
    this.nextItems = first > 0 ? first : BatchOptions.MAX_BATCH;
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
      differs(items[i]);
      bytes += ItemLayout.BYTES + queryBytes + resultBytes;
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
    int count = to - from;
    int[] packed = Arrays.copyOfRange(items, from, to);
    int[] results = new int[count];
    ChunkSizes sizes = ChunkSizes.NONE;
    int queries = 0;
    int hits = 0;
    boolean alike = true;
    for (int i = 0; i < count; i++) {
      boolean differs = differs(packed[i]);
      if (differs || i == 0) {
        sizes = sizes.max(plan.sizes());
      }
      alike &= differs == false || i == 0;
      results[i] = hits;
      queries += queryBytes;
      hits += resultBytes;
    }
    // headers, then queries with their entry points, then results, which are read one after another
    int at = up16(count * ItemLayout.BYTES);
    int firstResult = at + queries;
    List<AcceptedBits> used = new ArrayList<>();
    StagingPool.Block block = null;
    try {
      block = bring(packed, used) ? staging.allocate(firstResult + hits) : null;
    } finally {
      if (block == null) {
        used.forEach(AcceptedBits::release);
      }
    }
    if (block == null) {
      return null;
    }
    List<ResidentSegment> segments = new ArrayList<>();
    boolean written = false;
    try {
      write(block, packed, alike, at, results, firstResult, segments);
      written = true;
    } finally {
      if (written == false) {
        segments.forEach(ResidentSegment::release);
        used.forEach(AcceptedBits::release);
        block.free();
      }
    }
    grow();
    return new Chunk(shape, sizes, block, segments, used, plans, packed, results, batch.size());
  }

  /** Writes the items of a chunk, and holds their segments. */
  private void write(
      StagingPool.Block block,
      int[] packed,
      boolean alike,
      int firstQuery,
      int[] results,
      int firstResult,
      List<ResidentSegment> segments) {
    if (alike) {
      hold(segments);
      fillHeader();
      writeAll(block, packed, firstQuery, results, firstResult);
      return;
    }
    int at = firstQuery;
    for (int i = 0; i < packed.length; i++) {
      if (differs(packed[i]) || i == 0) {
        hold(segments);
        fillHeader();
      }
      results[i] += firstResult;
      write(block, header, i, batch.get(packed[i]).query(), at, results[i]);
      at += queryBytes;
    }
  }

  private void hold(List<ResidentSegment> segments) {
    if (segments.contains(plan.segment()) == false) {
      plan.segment().hold();
      segments.add(plan.segment());
    }
  }

  /** Frees bitsets that no chunk uses. */
  public void close() {
    if (bits != null) {
      bits.values().forEach(AcceptedBits::release);
      bits = null;
    }
  }

  /** Fills in what headers have in common. */
  private void fillHeader() {
    Bits accepted = terms.acceptedOrdinals();
    header[word(ItemLayout.SEGMENT)] = plan.segment().descriptor();
    header[word(ItemLayout.ACCEPTED)] = accepted == null ? 0 : bits.get(accepted).deviceAddress();
    pair(ItemLayout.ENTRY_COUNT, terms.entryPoints().length, plan.k());
    pair(ItemLayout.BEAM, plan.beam(), terms.walk().parents());
    pair(ItemLayout.RERANK, plan.rerank(), plan.visitLimit());
    pair(ItemLayout.CAPACITY, plan.capacity(), 0);
  }

  private static int word(long offset) {
    return (int) offset / Long.BYTES;
  }

  /** Sets two fields of 32 bits, one behind the other. */
  private void pair(long offset, int first, int second) {
    long low = LITTLE_ENDIAN ? first : second;
    long high = LITTLE_ENDIAN ? second : first;
    header[word(offset)] = (high << Integer.SIZE) | (low & 0xFFFF_FFFFL);
  }

  /** Writes the items of a chunk, which differ only in their query, with the help of the team. */
  private void writeAll(
      StagingPool.Block block, int[] packed, int firstQuery, int[] results, int firstResult) {
    Team.Work work =
        (from, to, worker) -> {
          long[] own = header.clone();
          for (int i = from; i < to; i++) {
            results[i] += firstResult;
            QueryVector query = batch.get(packed[i]).query();
            write(block, own, i, query, firstQuery + i * queryBytes, results[i]);
          }
        };
    int bytes = packed.length * (ItemLayout.BYTES + queryBytes);
    boolean large = bytes >= LARGE_BYTES;
    if (large && begun == false) {
      begun = true;
      helped = team.begin();
    }
    if (large && helped) {
      team.forEach(packed.length, Math.max(1, SHARE_BYTES / (ItemLayout.BYTES + queryBytes)), work);
    } else {
      work.run(0, packed.length, 0);
    }
  }

  private void write(
      StagingPool.Block block, long[] header, int i, QueryVector query, int at, int result) {
    long base = block.deviceAddress();
    int length = query.dimension();
    if (query.floats() != null) {
      block.floats.put(at / Float.BYTES, query.floats(), 0, length);
    } else {
      block.bytes.put(at, query.bytes(), 0, length);
    }
    int[] entries = terms.entryPoints();
    int entriesAt = at + queryBytes - up16(entries.length * Integer.BYTES);
    if (entries.length > 0) {
      block.ints.put(entriesAt / Integer.BYTES, entries);
    }
    header[word(ItemLayout.QUERY)] = base + at;
    header[word(ItemLayout.ENTRY_POINTS)] = base + entriesAt;
    header[word(ItemLayout.RESULT)] = base + result;
    // one copy, because each single value is checked against the block's bounds
    block.longs.put(i * header.length, header);
    // marks the result as void until the device writes it
    block.segment.set(ValueLayout.JAVA_INT, result + ResultLayout.COUNT, Chunk.VOID);
  }

  /** Copies the items' bitsets that have not been copied yet. */
  @SuppressWarnings("ReferenceEquality") // identity: the same bitset object, not an equal one
  private boolean bring(int[] items, List<AcceptedBits> used) {
    Bits last = null;
    for (int index : items) {
      Bits accepted = batch.get(index).acceptedOrdinals();
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
        copy = AcceptedBits.of(accepted, plans[index].segment(), lookups.get(accepted), staging);
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

  /** Whether an item has other terms or another plan than the item before; finds its sizes. */
  @SuppressWarnings("ReferenceEquality") // items that differ only in their query share both
  private boolean differs(int index) {
    WorkItem.Terms own = batch.get(index).terms();
    if (own == terms && plans[index] == plan) {
      return false;
    }
    terms = own;
    plan = plans[index];
    queryBytes =
        up16(terms.segment().dimension() * terms.segment().encoding().byteSize)
            + up16(terms.entryPoints().length * Integer.BYTES);
    resultBytes = up16((int) ResultLayout.bytes(plan.capacity()));
    return true;
  }

  private static int up16(int value) {
    return (value + 15) & ~15;
  }
}
