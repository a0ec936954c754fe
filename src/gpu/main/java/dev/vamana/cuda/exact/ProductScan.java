package dev.vamana.cuda.exact;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.ScanLayouts.ExactFactsLayout;
import dev.vamana.cuda.kernel.ScanLayouts.ExactLimits;
import dev.vamana.cuda.kernel.ScanLayouts.ExactScanLayout;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.PinnedBuffer;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import org.apache.lucene.index.VectorEncoding;

/**
 * Scans for many queries with tensor cores: they multiply low-precision copies, keep every
 * candidate that may be among the best within the products' error bound, and score these in single
 * precision at the end (docs/internals/exact-search.md).
 */
final class ProductScan {

  /** Number of queries from which copying all rows costs less than reading them more than once. */
  static final int LEAST_QUERIES = 13;

  /** Most hits of a query. */
  static final int MOST_HITS = 512;

  private static final int LEAST_RANGE = 2;
  private static final int GROWTH = 4;
  private static final int ENTRY_BYTES = 8;
  private static final int LEAST_CAPACITY = 1024;
  private static final int CAPACITY_OF_A_HIT = 8;
  private static final int PRODUCT_THREADS = 256;
  private static final int CONVERT_THREADS = 256;
  private static final int NARROW_THREADS = 128;
  private static final int FINISH_THREADS = 256;
  private static final int CONVERT_BLOCKS_PER_MULTIPROCESSOR = 8;
  private static final int PRODUCT_SHARED = ExactLimits.STAGES * ExactLimits.STAGE_BYTES;

  private final CudaDriver driver;
  private final long scratchBytes;
  private final DeviceBuffer copies;
  private final DeviceBuffer biases;
  private final DeviceBuffer targets;
  private final DeviceBuffer states;
  private final DeviceBuffer buffers;
  private final DeviceBuffer facts;
  private final MemorySegment factsOfRows =
      Arena.ofAuto().allocate(ExactFactsLayout.BYTES, Long.BYTES);
  // facts of other vectors; they are found while searches in another stream use the facts of rows
  private final DeviceBuffer others;
  private final PinnedBuffer found;
  private final ScanParameters search = new ScanParameters();
  private Copies current;

  /** The tile and format that the current copies are of. */
  private record Copies(TileSource.Tile tile, ProductFormat format) {}

  /**
   * Whether a block of the device has the shared memory for the stages of a product: devices of
   * compute capability 7.5 have 64 KiB and do not.
   */
  boolean supported() {
    return driver.device().sharedBytesPerBlock() >= PRODUCT_SHARED;
  }

  ProductScan(DriverObjects objects, long scratchBytes) {
    this.driver = objects.driver();
    this.scratchBytes = scratchBytes;
    copies = objects.device();
    biases = objects.device();
    targets = objects.device();
    states = objects.device();
    buffers = objects.device();
    facts = objects.device();
    others = objects.device();
    found = objects.pinned();
  }

  /** Computes facts about float vectors on the device, and waits for them. */
  ProductFormat.Facts facts(long address, int stride, int count, int dimension, long stream) {
    found.ensure(ExactFactsLayout.BYTES);
    long target = others.ensure(ExactFactsLayout.BYTES);
    driver.fill(target, (byte) 0, ExactFactsLayout.BYTES, stream);
    search
        .clear()
        .address(ExactScanLayout.ROWS, address)
        .address(ExactScanLayout.FACTS, target)
        .number(ExactScanLayout.ROW_STRIDE, stride)
        .number(ExactScanLayout.SIZE, count)
        .number(ExactScanLayout.DIMENSION, dimension);
    int blocks = driver.device().multiprocessors() * CONVERT_BLOCKS_PER_MULTIPROCESSOR;
    launch("exact_facts", blocks, CONVERT_THREADS, 0, search, stream);
    MemorySegment copy = found.segment().asSlice(0, ExactFactsLayout.BYTES);
    driver.copyFromDevice(copy, target, stream);
    driver.synchronize(stream);
    return new ProductFormat.Facts(
        copy.get(ValueLayout.JAVA_FLOAT, ExactFactsLayout.LARGEST_NORM),
        copy.get(ValueLayout.JAVA_INT, ExactFactsLayout.FLAGS));
  }

  /** Returns the most candidates of a tile. */
  int mostCandidates(ExactRows rows) {
    long most = scratchBytes / 3 * 2 / ProductFormat.mostStride(rows.dimension());
    return (int) Math.min(1 << 30, Math.max(1, most / ExactLimits.TILE) * ExactLimits.TILE);
  }

  /** Returns the most queries answered at once. */
  int mostQueries(int k) {
    return (int) Math.min(1 << 20, scratchBytes / 3 / ENTRY_BYTES / capacity(k));
  }

  private static int capacity(int k) {
    return Math.max(LEAST_CAPACITY, Integer.highestOneBit(2 * CAPACITY_OF_A_HIT * k - 1));
  }

  /** Discards the copies of the last search. */
  void begin() {
    current = null;
  }

  /**
   * Launches the search of the parameters' tile.
   *
   * @param ofRows facts about the rows; null for rows of bytes
   * @param redo receives a mark for each query that has to be searched again
   */
  void run(
      ScanParameters parameters,
      ProductFormat format,
      ProductFormat.Facts ofRows,
      long redo,
      long stream) {
    ExactRows rows = parameters.rows;
    TileSource.Tile tile = parameters.tile;
    int k = parameters.batch.k();
    int count = parameters.count;
    int capacity = capacity(k);
    int tiles = (int) ((tile.candidates() + ExactLimits.TILE - 1L) / ExactLimits.TILE);
    int queryTiles = (count + ExactLimits.TILE - 1) / ExactLimits.TILE;
    long most = ProductFormat.mostStride(rows.dimension());
    long padded = (long) queryTiles * ExactLimits.TILE;
    long state = states.ensure(3 * padded * Integer.BYTES);
    parameters
        .part(0, count)
        .address(ExactScanLayout.REDO, redo)
        .address(ExactScanLayout.COPIES, copies.ensure((long) tiles * ExactLimits.TILE * most))
        .address(
            ExactScanLayout.BIASES, biases.ensure((long) tiles * ExactLimits.TILE * Integer.BYTES))
        .address(ExactScanLayout.TARGETS, targets.ensure(padded * most))
        .address(ExactScanLayout.THRESHOLDS, state)
        .address(ExactScanLayout.COUNTS, state + padded * Integer.BYTES)
        .address(ExactScanLayout.SLACKS, state + 2 * padded * Integer.BYTES)
        .address(ExactScanLayout.BUFFERS, buffers.ensure((long) count * capacity * ENTRY_BYTES))
        .address(ExactScanLayout.FACTS, facts.ensure(ExactFactsLayout.BYTES))
        .number(ExactScanLayout.COPY_STRIDE, format.stride(rows.dimension()))
        .number(ExactScanLayout.CAPACITY, capacity)
        .number(ExactScanLayout.TILES, tiles)
        .number(ExactScanLayout.TILE_STEP, step(tiles))
        .number(ExactScanLayout.FORMAT, format.number())
        .real(ExactScanLayout.SCALE, format.scale());
    convert(parameters, new Copies(tile, format), ofRows, stream);
    multiply(parameters, format, tiles, queryTiles, stream);
    String encoding = rows.encoding() == VectorEncoding.BYTE ? "byte" : "float";
    int query = (rows.dimension() + 15) / 16 * 16 * Float.BYTES;
    launch(
        "exact_finish_" + encoding,
        count,
        FINISH_THREADS,
        capacity * Long.BYTES + query,
        parameters,
        stream);
  }

  private void convert(
      ScanParameters parameters, Copies wanted, ProductFormat.Facts ofRows, long stream) {
    int blocks = driver.device().multiprocessors() * CONVERT_BLOCKS_PER_MULTIPROCESSOR;
    if (wanted.equals(current) == false) {
      current = null;
      factsOfRows.set(
          ValueLayout.JAVA_FLOAT,
          ExactFactsLayout.LARGEST_NORM,
          ofRows == null ? 0 : ofRows.largestNorm());
      driver.copyToDevice(facts.ensure(ExactFactsLayout.BYTES), factsOfRows, stream);
      launch("exact_rows", blocks, CONVERT_THREADS, 0, parameters, stream);
      current = wanted;
    }
    launch("exact_targets", blocks, CONVERT_THREADS, 0, parameters, stream);
  }

  /** Multiplies in ranges of tiles. Ranges grow because thresholds get sharper. */
  private void multiply(
      ScanParameters parameters, ProductFormat format, int tiles, int queryTiles, long stream) {
    int k = parameters.batch.k();
    CudaDriver.Kernel kernel = driver.kernel(format.kernel());
    long atOnce =
        (long) driver.device().multiprocessors()
            * Math.max(1, kernel.blocksPerMultiprocessor(PRODUCT_THREADS, PRODUCT_SHARED));
    long size = Math.max(LEAST_RANGE, (2 * k + ExactLimits.TILE - 1) / ExactLimits.TILE);
    for (long at = 0; at < tiles; at += size, size = at * (GROWTH - 1)) {
      int range = (int) Math.min(size, tiles - at);
      parameters
          .number(ExactScanLayout.FIRST_TILE, (int) at)
          .number(ExactScanLayout.TILE_COUNT, range);
      int blocks = (int) Math.min(atOnce, (long) range * queryTiles);
      launch(format.kernel(), blocks, PRODUCT_THREADS, PRODUCT_SHARED, parameters, stream);
      launch(
          "exact_narrow",
          parameters.count,
          NARROW_THREADS,
          capacity(k) * Long.BYTES,
          parameters,
          stream);
    }
  }

  /**
   * Returns a step that is coprime to the number of tiles and spreads the first tiles of the order
   * evenly.
   */
  private static int step(int tiles) {
    int step = Math.max(1, (int) (tiles * 0.618034));
    while (gcd(step, tiles) != 1) {
      step++;
    }
    return step;
  }

  private static int gcd(int a, int b) {
    return b == 0 ? a : gcd(b, a % b);
  }

  private void launch(
      String kernel, int blocks, int threads, int shared, ScanParameters parameters, long stream) {
    driver.launch(driver.kernel(kernel), blocks, threads, shared, parameters.block(), stream);
  }
}
