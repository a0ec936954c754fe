package dev.vamana.cuda.exact;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.ScanLayouts.ExactScanLayout;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.PinnedBuffer;
import java.lang.foreign.MemorySegment;

/**
 * The result lists of some queries. With one tile, kernels write the hits to pinned host memory;
 * with several tiles, the lists are joined on the device and then copied.
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

  FoundLists(DriverObjects objects) {
    driver = objects.driver();
    results = objects.pinned();
    fresh = objects.device();
    best = objects.device();
    spare = objects.device();
  }

  /** Returns how many queries' lists fit at once. */
  static int most(int k) {
    return (int) (MOST_BYTES / Long.BYTES / k);
  }

  /** Makes room for the hits of queries over {@code tileCount} tiles. */
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

  /** Returns the address for the hits of the next tile. */
  long target() {
    if (only) {
      return results.address();
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
          .number(ExactScanLayout.QUERY_COUNT, queries);
      driver.launch(driver.kernel("exact_join"), queries, THREADS, 0, parameters.block(), stream);
      DeviceBuffer old = best;
      best = spare;
      spare = old;
    }
    tiles++;
  }

  /** Copies the hits to the host, after all tiles. */
  void end(long stream) {
    if (only == false) {
      driver.copyFromDevice(keys(), best.ensure(bytes), stream);
    }
  }

  /** Returns the keys of all hits; valid when the stream has passed {@link #end}. */
  MemorySegment keys() {
    return results.segment().asSlice(0, bytes);
  }
}
