package dev.vamana.cuda.exact;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.ScanLayouts.ExactScanLayout;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.PinnedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;

/**
 * Some queries of a batch during their search, with their memory. Two slices alternate, so that the
 * host writes the queries of one while the device searches the other. With one tile, kernels write
 * the hits to pinned host memory; with several tiles, hits are joined on the device and then
 * copied.
 */
final class Slice {

  private static final int THREADS = 128;
  // of queries, and of hits
  private static final long MOST_BYTES = 64L << 20;

  private final DriverObjects objects;
  private final CudaDriver driver;
  private final PinnedBuffer pinnedQueries;
  private final DeviceBuffer queries;
  private final PinnedBuffer hits;
  private final DeviceBuffer fresh;
  private DeviceBuffer best;
  private DeviceBuffer spare;
  private final PinnedBuffer redo;
  private final long done;
  private int first;
  private int count;
  private long bytes;
  private int tiles;
  private boolean only;

  Slice(DriverObjects objects) {
    this.objects = objects;
    driver = objects.driver();
    pinnedQueries = objects.pinned();
    queries = objects.device();
    hits = objects.pinned();
    fresh = objects.device();
    best = objects.device();
    spare = objects.device();
    redo = objects.pinned();
    done = objects.event();
  }

  /** Returns the most queries over these rows, with k hits each, that a slice takes. */
  static int most(ExactRows rows, int k) {
    return (int) Math.min(MOST_BYTES / rows.queryStride(), MOST_BYTES / Long.BYTES / k);
  }

  /**
   * Assigns queries of a batch, whose candidates are in so many tiles. The results of the earlier
   * ones have been read.
   */
  void begin(int firstQuery, int queryCount, int k, int tileCount) {
    first = firstQuery;
    count = queryCount;
    bytes = (long) queryCount * k * Long.BYTES;
    only = tileCount == 1;
    tiles = 0;
    hits.ensure(bytes);
    if (only == false) {
      fresh.ensure(bytes);
      best.ensure(bytes);
      spare.ensure(bytes);
    }
    redo.ensure((long) queryCount * Integer.BYTES);
    redo.segment().asSlice(0, (long) queryCount * Integer.BYTES).fill((byte) 0);
  }

  /** Copies the queries to the device; returns their address, for kernels of the stream. */
  long stage(ExactRows rows, ExactBatch batch, long stream) {
    long size = (long) count * rows.queryStride();
    pinnedQueries.ensure(size);
    batch.write(first, count, rows.queryStride(), pinnedQueries.segment());
    if (count == 1) {
      // read in place, which costs less than a copy
      return pinnedQueries.address();
    }
    long address = queries.ensure(size);
    driver.copyToDevice(address, pinnedQueries.segment().asSlice(0, size), stream);
    return address;
  }

  /** Returns the address for the hits of the next tile. */
  long target() {
    if (only) {
      return hits.address();
    }
    return (tiles == 0 ? best : fresh).ensure(bytes);
  }

  /** Joins the hits of the last tile with the earlier ones. */
  void add(ScanParameters parameters, long stream) {
    if (tiles > 0) {
      parameters
          .address(ExactScanLayout.FOUND, fresh.ensure(bytes))
          .address(ExactScanLayout.EARLIER, best.ensure(bytes))
          .address(ExactScanLayout.JOINED, spare.ensure(bytes))
          .number(ExactScanLayout.QUERY_COUNT, count);
      driver.launch(driver.kernel("exact_join"), count, THREADS, 0, parameters.block(), stream);
      DeviceBuffer old = best;
      best = spare;
      spare = old;
    }
    tiles++;
  }

  /** Returns the address of the marks for queries that have to be searched again. */
  long redo() {
    return redo.address();
  }

  /** Copies the hits to the host, and marks the end of the slice's launches. */
  void end(long stream) {
    if (only == false) {
      driver.copyFromDevice(hits.segment().asSlice(0, bytes), best.ensure(bytes), stream);
    }
    driver.record(done, stream);
  }

  /**
   * Waits for the results and reads them.
   *
   * @param again receives the queries that have to be searched again
   */
  void read(ExactHits target, int k, List<Integer> again) {
    objects.await(done);
    target.read(hits.segment().asSlice(0, bytes), first, count, k);
    MemorySegment marks = redo.segment();
    for (int q = 0; q < count; q++) {
      if (marks.getAtIndex(ValueLayout.JAVA_INT, q) != 0) {
        again.add(first + q);
      }
    }
  }
}
