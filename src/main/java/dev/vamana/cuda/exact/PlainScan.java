package dev.vamana.cuda.exact;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.ExactLimits;
import dev.vamana.cuda.kernel.ExactScanLayout;
import dev.vamana.cuda.kernel.SharedLayout;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.select.SelectRows;
import dev.vamana.cuda.select.SelectTable;
import dev.vamana.cuda.select.Selection;
import org.apache.lucene.index.VectorEncoding;

/**
 * Scans in single precision. For a few queries with few hits, each launch reads every row once and
 * selects as well. For other batches, launches write the scores of some queries at a time and
 * {@link Selection} selects the best. {@link ProductScan} is the counterpart with tensor cores.
 */
final class PlainScan {

  /** Most queries that use launches that scan and select at once. */
  private static final int FEW_QUERIES = 16;

  /** Queries of a launch, and queries of a launch over long rows, which leave room for fewer. */
  private static final int GROUP = 8;

  private static final int GROUP_OF_LONG = 4;
  private static final int LONG = 2048;
  private static final int THREADS = 256;
  private static final int ROWS_A_STEP = 64;
  private static final int BLOCKS_PER_MULTIPROCESSOR = 2;
  private static final int BLOCKS_PER_MULTIPROCESSOR_OF_ONE = 3;
  private static final int FOUND_THREADS = 256;

  /** The inverse of the share of the scratch memory for selection; the scores take the rest. */
  private static final int SELECTION_SHARE = 8;

  private final CudaDriver driver;
  private final long scratchBytes;
  private final DeviceBuffer parts;
  private final DeviceBuffer scores;
  private final DeviceBuffer selected;
  private final Selection selection;
  private final DeviceBuffer ticket;
  private boolean ticketReady;

  PlainScan(Scratch scratch, long scratchBytes) {
    this.driver = scratch.driver();
    this.scratchBytes = scratchBytes / SELECTION_SHARE * (SELECTION_SHARE - 1);
    parts = scratch.device();
    scores = scratch.device();
    selected = scratch.device();
    selection = new Selection(driver, SelectTable.measured(), scratchBytes / SELECTION_SHARE);
    ticket = scratch.device();
  }

  /** Whether a batch uses launches that scan and select at once. */
  static boolean few(int queries, int k) {
    return queries <= FEW_QUERIES && k <= ExactLimits.FEW_HITS;
  }

  /** Returns the most candidates of a tile. */
  int mostCandidates() {
    return (int) Math.min(Integer.MAX_VALUE - 1023L, scratchBytes / Float.BYTES);
  }

  /**
   * Launches the search of a tile.
   *
   * @param parameters with rows, batch and tile already set
   * @param queries device address of some queries of the batch
   * @param queryStride bytes between queries
   * @param count number of these queries
   * @param found receives k keys per query
   */
  void run(
      ScanParameters parameters,
      ExactRows rows,
      ExactBatch batch,
      Tile tile,
      long queries,
      int queryStride,
      int count,
      long found,
      long stream) {
    parameters.number(ExactScanLayout.QUERY_STRIDE, queryStride);
    if (few(count, batch.k())) {
      few(parameters, rows, batch, tile, queries, queryStride, count, found, stream);
      return;
    }
    long scoreStride = (tile.candidates() + 3L) / 4 * 4;
    long each = scoreStride * Float.BYTES + (long) batch.k() * Long.BYTES;
    int most = (int) Math.max(1, Math.min(count, scratchBytes / each));
    long address = scores.ensure(most * scoreStride * Float.BYTES);
    for (int first = 0; first < count; first += most) {
      int now = Math.min(most, count - first);
      parameters
          .address(ExactScanLayout.SCORES, address)
          .address(ExactScanLayout.SCORE_STRIDE, scoreStride)
          .address(ExactScanLayout.QUERIES, queries + (long) first * queryStride)
          .address(ExactScanLayout.FOUND, found + (long) first * batch.k() * Long.BYTES)
          .number(ExactScanLayout.QUERY_COUNT, now);
      int width = width(rows, now);
      int groups = (now + width - 1) / width;
      int blocks = blocks(tile.candidates(), width) * groups;
      launch(kernel(rows, width), blocks, THREADS, queryBytes(rows, width), parameters, stream);
      select(parameters, address, tile.candidates(), (int) scoreStride, now, batch.k(), stream);
    }
    parameters.address(ExactScanLayout.SCORES, 0);
  }

  /** Launches the selection from scores. */
  private void select(
      ScanParameters parameters,
      long address,
      int candidates,
      int stride,
      int count,
      int k,
      long stream) {
    long size = (long) count * k * Float.BYTES;
    long keys = selected.ensure(2 * size);
    selection.select(
        new SelectRows(address, 0, count, candidates, stride), k, true, keys, keys + size, stream);
    parameters
        .address(ExactScanLayout.SELECTED_KEYS, keys)
        .address(ExactScanLayout.SELECTED_CANDIDATES, keys + size);
    launch("exact_found", count, FOUND_THREADS, 0, parameters, stream);
  }

  private void few(
      ScanParameters parameters,
      ExactRows rows,
      ExactBatch batch,
      Tile tile,
      long queries,
      int queryStride,
      int count,
      long found,
      long stream) {
    parameters.address(ExactScanLayout.SCORES, 0).address(ExactScanLayout.TICKET, ticket(stream));
    int now;
    for (int first = 0; first < count; first += now) {
      int width = width(rows, count - first);
      int blocks = blocks(tile.candidates(), width);
      now = Math.min(width, count - first);
      parameters
          .address(
              ExactScanLayout.PARTS,
              parts.ensure((long) GROUP * ExactLimits.MOST_PARTS * batch.k() * Long.BYTES))
          .address(ExactScanLayout.QUERIES, queries + (long) first * queryStride)
          .address(ExactScanLayout.FOUND, found + (long) first * batch.k() * Long.BYTES)
          .number(ExactScanLayout.QUERY_COUNT, now);
      launch(
          kernel(rows, width),
          blocks,
          THREADS,
          width * ExactLimits.NEAREST_BYTES + queryBytes(rows, width),
          parameters,
          stream);
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

  /** Returns the queries of the next launch if {@code left} queries remain. */
  private static int width(ExactRows rows, int left) {
    if (left == 1) {
      return 1;
    }
    return left <= GROUP_OF_LONG || rows.dimension() > LONG ? GROUP_OF_LONG : GROUP;
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

  private static int queryBytes(ExactRows rows, int width) {
    int component = rows.encoding() == VectorEncoding.BYTE ? Byte.BYTES : Float.BYTES;
    return width * SharedLayout.up16(rows.dimension()) * component;
  }

  private void launch(
      String kernel, int blocks, int threads, int shared, ScanParameters parameters, long stream) {
    driver.launch(driver.kernel(kernel), blocks, threads, shared, parameters.block(), stream);
  }
}
