package dev.vamana.cuda.exact;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.SessionHostMemory;
import java.io.Closeable;
import java.lang.foreign.MemorySegment;

/**
 * Exact search on one device. Used by one thread at a time, which is bound to the driver; works on
 * streams of its own. Memory is taken by the first searches that need it and kept.
 */
public final class ExactScans implements Closeable {

  private final Scratch scratch;
  private final QueryStage stage;
  private final TileSource tiles;
  private final PlainScan plain;
  private final FoundLists found;
  private final ScanParameters parameters = new ScanParameters();
  private final long stream;

  /**
   * Makes an engine; the calling thread is bound to the driver.
   *
   * @param account counts pinned memory; what it refuses fails searches for want of memory
   */
  public ExactScans(CudaDriver driver, SessionHostMemory account, ExactOptions options) {
    scratch = new Scratch(driver, account);
    stage = new QueryStage(scratch);
    tiles = new TileSource(scratch, options.tileBytes());
    plain = new PlainScan(scratch, options.scratchBytes());
    found = new FoundLists(scratch);
    stream = scratch.stream();
  }

  /**
   * Searches. Rows and accepted ordinals on the device must stay there until this returns.
   *
   * @param hits receives the best of the accepted rows for every query
   * @throws IllegalArgumentException if the batch does not fit the rows
   * @throws dev.vamana.cuda.driver.GpuException if the device fails, or memory for this cannot be
   *     had; a search may follow unless the context is lost
   */
  public void search(ExactRows rows, ExactBatch batch, ExactHits hits) {
    batch.check(rows);
    hits.reset(batch.size());
    int most = Math.max(1, Math.min(QueryStage.most(rows), FoundLists.most(batch.k())));
    boolean done = false;
    try {
      for (int first = 0; first < batch.size(); first += most) {
        search(rows, batch, first, Math.min(most, batch.size() - first), hits);
      }
      done = true;
    } finally {
      if (done == false) {
        quiesce();
      }
    }
  }

  private void search(ExactRows rows, ExactBatch batch, int first, int count, ExactHits hits) {
    int tileCount = tiles.count(rows, batch, plain.mostCandidates());
    if (tileCount == 0) {
      hits.readNone(first, count);
      return;
    }
    long queries = stage.stage(rows, batch, first, count, stream);
    int queryStride = QueryStage.stride(rows);
    parameters.begin(rows, batch);
    found.begin(count, batch.k(), tileCount);
    tiles.forEach(
        rows,
        batch,
        plain.mostCandidates(),
        stream,
        tile -> {
          parameters.tile(tile);
          plain.run(
              parameters, rows, batch, tile, queries, queryStride, count, found.target(), stream);
          found.add(parameters, stream);
        });
    MemorySegment keys = found.await(stream);
    hits.read(keys, first, count, batch.k());
  }

  /** After a failure nothing may be in use when the next search begins. */
  private void quiesce() {
    try {
      scratch.synchronize();
    } catch (RuntimeException e) {
      // the failure that is on its way says more
      return;
    }
  }

  /** Frees memory and streams; no search runs. */
  @Override
  public void close() {
    scratch.free();
  }
}
