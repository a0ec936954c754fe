package dev.vamana.cuda.exact;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.ScanLayouts.ExactLimits;
import dev.vamana.cuda.kernel.ScanLayouts.ExactScanLayout;
import dev.vamana.cuda.kernel.SharedLayout;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.select.SelectRows;
import dev.vamana.cuda.select.Selection;
import org.apache.lucene.index.VectorEncoding;

/**
 * Scans in single precision. For a few queries with few hits, each launch reads every row once and
 * selects as well. For other batches, launches write the scores of some queries at a time and
 * {@link Selection} selects the best. {@link ProductScan} is the counterpart with tensor cores.
 */
final class PlainScan {

  /**
   * Queries of a launch that scans and selects at once. One of more needs more memory of a block.
   */
  private static final int[] WIDTHS = {1, 4, 8, 16};

  /** Most queries of such a launch. */
  static final int MOST_QUERIES = WIDTHS[WIDTHS.length - 1];

  private static final int THREADS = 256;
  private static final int ROWS_A_STEP = 64;
  private static final int BLOCKS_PER_MULTIPROCESSOR = 2;
  private static final int BLOCKS_PER_MULTIPROCESSOR_OF_ONE = 3;
  private static final int FOUND_THREADS = 256;

  /** The inverse of the share of the objects memory for selection; the scores take the rest. */
  private static final int SELECTION_SHARE = 8;

  private final CudaDriver driver;
  private final long scratchBytes;
  private final DeviceBuffer parts;
  private final DeviceBuffer scores;
  private final DeviceBuffer selected;
  private final Selection selection;
  private final DeviceBuffer ticket;
  private boolean ticketReady;

  PlainScan(DriverObjects objects, long scratchBytes) {
    this.driver = objects.driver();
    this.scratchBytes = scratchBytes / SELECTION_SHARE * (SELECTION_SHARE - 1);
    parts = objects.device();
    scores = objects.device();
    selected = objects.device();
    selection = new Selection(driver, objects.budget(), scratchBytes / SELECTION_SHARE);
    ticket = objects.device();
  }

  /** Returns the most candidates of a tile. */
  int mostCandidates() {
    return (int) Math.min(Integer.MAX_VALUE - 1023L, scratchBytes / Float.BYTES);
  }

  /** Launches the search of the parameters' tile. */
  void run(ScanParameters parameters, long stream) {
    ExactRows rows = parameters.rows;
    int k = parameters.batch.k();
    int candidates = parameters.tile.candidates();
    if (ExactScans.few(parameters.count, k, (long) candidates * rows.dimension())) {
      searchFew(parameters, stream);
      return;
    }
    long scoreStride = (candidates + 3L) / 4 * 4;
    long each = scoreStride * Float.BYTES + (long) k * Long.BYTES;
    int most = (int) Math.max(1, Math.min(parameters.count, scratchBytes / each));
    long address = scores.ensure(most * scoreStride * Float.BYTES);
    for (int first = 0; first < parameters.count; first += most) {
      int now = Math.min(most, parameters.count - first);
      parameters
          .part(first, now)
          .address(ExactScanLayout.SCORES, address)
          .address(ExactScanLayout.SCORE_STRIDE, scoreStride);
      int width = width(rows, now, 0);
      int groups = (now + width - 1) / width;
      int blocks = blocks(candidates, width) * groups;
      launch(kernel(rows, width), blocks, THREADS, sharedBytes(rows, width, 0), parameters, stream);
      SelectRows scored = new SelectRows(address, now, candidates, (int) scoreStride);
      long size = (long) now * k * Float.BYTES;
      long keys = selected.ensure(2 * size);
      selection.select(scored, k, keys, keys + size, stream);
      parameters
          .address(ExactScanLayout.SELECTED_KEYS, keys)
          .address(ExactScanLayout.SELECTED_CANDIDATES, keys + size);
      launch("exact_found", now, FOUND_THREADS, 0, parameters, stream);
    }
    parameters.address(ExactScanLayout.SCORES, 0);
  }

  private void searchFew(ScanParameters parameters, long stream) {
    ExactRows rows = parameters.rows;
    long partBytes =
        (long) MOST_QUERIES * ExactLimits.MOST_PARTS * parameters.batch.k() * Long.BYTES;
    parameters
        .address(ExactScanLayout.SCORES, 0)
        .address(ExactScanLayout.TICKET, ticket(stream))
        .address(ExactScanLayout.PARTS, parts.ensure(partBytes));
    int now;
    for (int first = 0; first < parameters.count; first += now) {
      int width = width(rows, parameters.count - first, ExactLimits.NEAREST_BYTES);
      int blocks = blocks(parameters.tile.candidates(), width);
      now = Math.min(width, parameters.count - first);
      parameters.part(first, now).number(ExactScanLayout.PART_COUNT, blocks);
      int shared = sharedBytes(rows, width, ExactLimits.NEAREST_BYTES);
      launch(kernel(rows, width), blocks, THREADS, shared, parameters, stream);
      if (width > 1) {
        launch("exact_few_join", now, THREADS, 0, parameters, stream);
      }
    }
  }

  /** Frees memory of the selection. No launch may be running. */
  void free() {
    selection.close();
  }

  /**
   * Resets the ticket counter after a failure, since launches that never ran may have left it
   * non-zero.
   */
  void recover() {
    ticketReady = false;
  }

  private long ticket(long stream) {
    long address = ticket.ensure(Integer.BYTES);
    if (ticketReady == false) {
      driver.fill(address, (byte) 0, Integer.BYTES, stream);
      ticketReady = true;
    }
    return address;
  }

  /**
   * Returns the queries of the next launch if {@code left} queries remain: as few as take all, or
   * as many as a block has room for.
   *
   * @param each bytes of a block for each query, beside the query itself
   */
  private int width(ExactRows rows, int left, int each) {
    int most = driver.device().sharedBytesPerBlock();
    int widest = WIDTHS[0];
    for (int width : WIDTHS) {
      if (widest < left && sharedBytes(rows, width, each) <= most) {
        widest = width;
      }
    }
    return widest;
  }

  private int blocks(int candidates, int width) {
    int useful = (int) ((candidates + ROWS_A_STEP - 1L) / ROWS_A_STEP);
    int each = width == 1 ? BLOCKS_PER_MULTIPROCESSOR_OF_ONE : BLOCKS_PER_MULTIPROCESSOR;
    int most = Math.min(ExactLimits.MOST_PARTS, driver.device().multiprocessors() * each);
    return Math.max(1, Math.min(most, useful));
  }

  private static String kernel(ExactRows rows, int width) {
    String encoding = rows.encoding() == VectorEncoding.BYTE ? "byte" : "float";
    return "exact_few_" + encoding + "_q" + width;
  }

  /** Returns the bytes of a block: for each query its components and {@code each} more. */
  private static int sharedBytes(ExactRows rows, int width, int each) {
    int component = rows.encoding() == VectorEncoding.BYTE ? Byte.BYTES : Float.BYTES;
    return width * (each + SharedLayout.up16(rows.dimension()) * component);
  }

  private void launch(
      String kernel, int blocks, int threads, int shared, ScanParameters parameters, long stream) {
    driver.launch(driver.kernel(kernel), blocks, threads, shared, parameters.block(), stream);
  }
}
