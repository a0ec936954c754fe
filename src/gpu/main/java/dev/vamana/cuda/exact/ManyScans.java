package dev.vamana.cuda.exact;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.ScanLayouts.ExactBlockLayout;
import dev.vamana.cuda.kernel.ScanLayouts.ExactLimits;
import dev.vamana.cuda.kernel.ScanLayouts.ExactManyLayout;
import dev.vamana.cuda.kernel.ScanLayouts.ExactScanLayout;
import dev.vamana.cuda.kernel.SharedLayout;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.PinnedBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.VectorEncoding;

/**
 * Many scans by few queries each in one launch, for instance of one query over many small segments:
 * a launch takes longer than the rows of a small segment. {@link PlainScan} is the counterpart for
 * one set of rows. {@link ExactScans} has one.
 */
final class ManyScans {

  /** Scans of a launch; more take several. */
  private static final int MOST_SCANS = 1024;

  /**
   * Most bytes that the queries of a batch compare: {@link #GROUP} of them share what is read, at
   * about five bytes a picosecond from the cache, while matrix products take 0.16 ms to begin.
   */
  private static final long MOST_BYTES = 1L << 31;

  /** Queries of a scan, if any has more than one. */
  private static final int GROUP = 4;

  private static final int THREADS = 256;
  private static final int LANES = 8;
  private static final int ROWS_OF_ONE = 2;
  private static final int ROWS_OF_GROUP = 4;
  private static final int BLOCKS_PER_MULTIPROCESSOR = 3;

  private final CudaDriver driver;
  private final DriverObjects objects;
  private final PinnedBuffer staging;
  private final DeviceBuffer staged;
  private final DeviceBuffer parts;
  private final DeviceBuffer tickets;
  private final PinnedBuffer found;
  private final MemorySegment many = Arena.ofAuto().allocate(ExactManyLayout.BYTES, Long.BYTES);
  private final ScanParameters parameters = new ScanParameters();
  private final long stream;
  private final long done;
  private boolean ticketsReady;

  ManyScans(DriverObjects objects, long stream) {
    this.objects = objects;
    this.driver = objects.driver();
    this.stream = stream;
    staging = objects.pinned();
    staged = objects.device();
    parts = objects.device();
    tickets = objects.device();
    found = objects.pinned();
    done = objects.event();
  }

  /** Whether as many queries over these rows are better one of many than alone. */
  static boolean takes(ExactRows rows, int queries) {
    return (long) queries * rows.size() * rows.stride() <= MOST_BYTES;
  }

  /** A scan of a launch: up to {@link #GROUP} queries of a batch. */
  private record Scan(ExactScans.Asked asked, int first, int count) {

    int k() {
      return asked.batch().k();
    }

    int keys() {
      return count * k();
    }
  }

  /**
   * Searches, and waits for the hits.
   *
   * @param all batches over all or accepted rows, in place, for as many hits as {@link
   *     ExactScans#few} allows; of one encoding, and each as {@link ExactBatch#check}
   */
  void search(List<ExactScans.Asked> all) {
    int group = all.stream().allMatch(asked -> asked.batch().size() == 1) ? 1 : GROUP;
    List<Scan> scans = new ArrayList<>();
    for (ExactScans.Asked asked : all) {
      int size = asked.batch().size();
      asked.hits().reset(size);
      if (asked.rows().size() == 0) {
        asked.hits().readNone(0, size);
        continue;
      }
      for (int first = 0; first < size; first += group) {
        scans.add(new Scan(asked, first, Math.min(group, size - first)));
      }
    }
    for (int from = 0; from < scans.size(); from += MOST_SCANS) {
      launch(scans.subList(from, Math.min(scans.size(), from + MOST_SCANS)), group);
    }
  }

  private void launch(List<Scan> scans, int group) {
    int[] blocks = blocks(scans, group == 1 ? ROWS_OF_ONE : ROWS_OF_GROUP);
    int all = 0;
    long partKeys = 0;
    long keys = 0;
    long queryBytes = 0;
    int dimension = 1;
    for (int i = 0; i < blocks.length; i++) {
      Scan scan = scans.get(i);
      all += blocks[i];
      partKeys += (long) blocks[i] * scan.keys();
      keys += scan.keys();
      queryBytes += (long) scan.count * scan.asked.rows().queryStride();
      dimension = Math.max(dimension, scan.asked.rows().dimension());
    }
    long atBlocks = (long) scans.size() * ExactScanLayout.BYTES;
    long atQueries = atBlocks + (long) all * ExactBlockLayout.BYTES;
    long bytes = atQueries + queryBytes;
    staging.ensure(bytes);
    found.ensure(keys * Long.BYTES);
    long device = staged.ensure(bytes);
    write(scans, blocks, device, atBlocks, atQueries, parts.ensure(partKeys * Long.BYTES));
    driver.copyToDevice(device, staging.segment().asSlice(0, bytes), stream);
    many.set(ValueLayout.JAVA_LONG, ExactManyLayout.SCANS, device);
    many.set(ValueLayout.JAVA_LONG, ExactManyLayout.BLOCKS, device + atBlocks);
    many.set(ValueLayout.JAVA_INT, ExactManyLayout.COUNT, all);
    boolean ofBytes = scans.get(0).asked.rows().encoding() == VectorEncoding.BYTE;
    int component = ofBytes ? Byte.BYTES : Float.BYTES;
    int shared = group * (ExactLimits.NEAREST_BYTES + SharedLayout.up16(dimension) * component);
    String kernel = "exact_many_" + (ofBytes ? "byte" : "float") + "_q" + group;
    driver.launch(driver.kernel(kernel), all, THREADS, shared, many, stream);
    driver.record(done, stream);
    objects.await(done);
    read(scans);
  }

  /** Writes the parameters of all scans, what each block does, and the queries. */
  private void write(
      List<Scan> scans, int[] blocks, long device, long atBlocks, long atQueries, long partKeys) {
    MemorySegment target = staging.segment();
    long ticket = tickets();
    long key = found.address();
    long block = atBlocks;
    long query = atQueries;
    for (int i = 0; i < blocks.length; i++) {
      Scan scan = scans.get(i);
      ExactRows rows = scan.asked.rows();
      ExactBatch batch = scan.asked.batch();
      parameters.begin(rows, batch, device + query, scan.count);
      parameters.tile(
          new TileSource.Tile(rows.address(), rows.stride(), rows.size(), 0, 0, rows.size()), key);
      parameters
          .part(0, scan.count)
          .address(ExactScanLayout.PARTS, partKeys)
          .address(ExactScanLayout.TICKET, ticket + (long) i * Integer.BYTES);
      MemorySegment.copy(
          parameters.block(), 0, target, (long) i * ExactScanLayout.BYTES, ExactScanLayout.BYTES);
      for (int part = 0; part < blocks[i]; part++) {
        target.set(ValueLayout.JAVA_INT, block + ExactBlockLayout.SCAN, i);
        target.set(ValueLayout.JAVA_INT, block + ExactBlockLayout.PART, part);
        target.set(ValueLayout.JAVA_INT, block + ExactBlockLayout.PARTS, blocks[i]);
        block += ExactBlockLayout.BYTES;
      }
      long size = (long) scan.count * rows.queryStride();
      batch.write(scan.first, scan.count, rows.queryStride(), target.asSlice(query, size));
      query += size;
      key += (long) scan.keys() * Long.BYTES;
      partKeys += (long) blocks[i] * scan.keys() * Long.BYTES;
    }
  }

  private void read(List<Scan> scans) {
    long at = 0;
    for (Scan scan : scans) {
      long size = (long) scan.keys() * Long.BYTES;
      MemorySegment keys = found.segment().asSlice(at, size);
      scan.asked.hits().read(keys, scan.first, scan.count, scan.k());
      at += size;
    }
  }

  /**
   * Divides as many blocks as the device runs at once by the bytes that scans read. Each has one at
   * least, and no more than it has rows for.
   */
  private int[] blocks(List<Scan> scans, int rowsOfLane) {
    int step = THREADS / LANES * rowsOfLane;
    double all = 0;
    for (Scan scan : scans) {
      all += work(scan);
    }
    int device = BLOCKS_PER_MULTIPROCESSOR * driver.device().multiprocessors();
    int[] blocks = new int[scans.size()];
    for (int i = 0; i < blocks.length; i++) {
      int useful = (scans.get(i).asked.rows().size() + step - 1) / step;
      int share = (int) Math.ceil(device * work(scans.get(i)) / all);
      blocks[i] = Math.max(1, Math.min(Math.min(useful, share), ExactLimits.MOST_PARTS));
    }
    return blocks;
  }

  private static double work(Scan scan) {
    return (double) scan.asked.rows().size() * scan.asked.rows().stride();
  }

  private long tickets() {
    long bytes = (long) MOST_SCANS * Integer.BYTES;
    long address = tickets.ensure(bytes);
    if (ticketsReady == false) {
      driver.fill(address, (byte) 0, bytes, stream);
      ticketsReady = true;
    }
    return address;
  }

  /** As {@link PlainScan#recover}. */
  void recover() {
    ticketsReady = false;
  }
}
