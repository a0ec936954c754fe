package dev.vamana.cuda.exact;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.ExactScanLayout;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.PinnedBuffer;
import java.lang.foreign.MemorySegment;

/**
 * The hits of some queries. Those of the only tile are written to the host at once; those of
 * several tiles are joined on the device.
 */
final class FoundLists {

  private static final int THREADS = 128;
  private static final long MOST_BYTES = 64L << 20;

  private final CudaDriver driver;
  private final PinnedBuffer results;
  private final DeviceBuffer fresh;
  private DeviceBuffer best;
  private DeviceBuffer spare;
  private long bytes;
  private int queries;
  private int tiles;
  private boolean only;

  FoundLists(Scratch scratch) {
    driver = scratch.driver();
    results = scratch.pinned();
    fresh = scratch.device();
    best = scratch.device();
    spare = scratch.device();
  }

  /** Queries whose hits fit at once. */
  static int most(int k) {
    return (int) (MOST_BYTES / Long.BYTES / k);
  }

  /** Makes room for the hits of some queries in so many tiles. */
  void begin(int queryCount, int k, int tileCount) {
    queries = queryCount;
    bytes = (long) queryCount * k * Long.BYTES;
    only = tileCount == 1;
    tiles = 0;
    results.ensure(bytes);
    if (only == false) {
      fresh.ensure(bytes);
      best.ensure(bytes);
      spare.ensure(bytes);
    }
  }

  /** Where the hits of the next tile go. */
  long target() {
    if (only) {
      return results.address();
    }
    return (tiles == 0 ? best : fresh).ensure(bytes);
  }

  /** Joins the hits of the tile that was searched last. */
  void add(ScanParameters parameters, long stream) {
    if (tiles > 0) {
      parameters
          .address(ExactScanLayout.FOUND, fresh.ensure(bytes))
          .address(ExactScanLayout.EARLIER, best.ensure(bytes))
          .address(ExactScanLayout.JOINED, spare.ensure(bytes))
          .number(ExactScanLayout.QUERY_COUNT, queries);
      driver.launch(driver.kernel("exact_join"), queries, THREADS, 0, parameters.block(), stream);
      DeviceBuffer old = best;
      best = spare;
      spare = old;
    }
    tiles++;
  }

  /** Brings the hits to the host, after all tiles. */
  void end(long stream) {
    if (only == false) {
      driver.copyFromDevice(keys(), best.ensure(bytes), stream);
    }
  }

  /** Keys of all hits, once the stream has come so far. */
  MemorySegment keys() {
    return results.segment().asSlice(0, bytes);
  }
}
