package dev.vamana.cuda.exact;

import dev.vamana.cuda.driver.Cleanup;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.ScanLayouts.ExactLimits;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.SessionHostMemory;
import java.io.Closeable;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Exact search on one device. It is used by one thread at a time, which is bound to the driver, and
 * has its own streams. Memory is allocated on first need and kept. {@link
 * dev.vamana.cuda.scan.ScanLane} drives an instance.
 */
public final class ExactScans implements Closeable {

  /** Most queries for which a launch reads each row once. */
  public static final int QUERIES_A_LAUNCH = PlainScan.MOST_QUERIES;

  /**
   * Components of the candidates up to which two, and four, such launches take less time than
   * matrix products: as measured (docs/internals/exact-search.md).
   */
  private static final long COMPONENTS_OF_TWO = 32L << 20;

  private static final long COMPONENTS_OF_FOUR = 8L << 20;

  /** Queries of a slice of a large batch. */
  private static final int SLICE = 2560;

  private final DriverObjects objects;
  private final ExactOptions options;
  private final TileSource tiles;
  private final PlainScan plain;
  private final ProductScan products;
  private final ManyScans many;
  private final Slice[] slices;
  private final ScanParameters parameters = new ScanParameters();
  private final long stream;
  private final long copyStream;

  /**
   * Makes an instance. The calling thread is bound to the driver.
   *
   * @param account counts pinned memory; searches fail with {@code OUT_OF_MEMORY} if it refuses
   * @param budget counts device memory
   */
  public ExactScans(
      CudaDriver driver, SessionHostMemory account, DeviceBudget budget, ExactOptions options) {
    this.options = options;
    this.objects = new DriverObjects(driver, account, budget);
    try {
      tiles = new TileSource(objects);
      plain = new PlainScan(objects, options.scratchBytes() / 4);
      products = new ProductScan(objects, options.scratchBytes() / 4 * 3);
      slices = new Slice[] {new Slice(objects), new Slice(objects)};
      stream = objects.stream();
      copyStream = objects.stream();
      many = new ManyScans(objects, stream);
    } catch (RuntimeException e) {
      Cleanup.after(e, objects::free);
      throw e;
    }
  }

  /**
   * Whether one launch that reads each row once answers a batch.
   *
   * @param queries number of queries of a batch
   * @param k hits of each query
   */
  public static boolean few(int queries, int k) {
    return few(queries, k, Long.MAX_VALUE);
  }

  /**
   * Whether a few such launches answer a batch, without matrix products.
   *
   * @param components components of all candidates
   */
  public static boolean few(int queries, int k, long components) {
    int launches = components <= COMPONENTS_OF_FOUR ? 4 : components <= COMPONENTS_OF_TWO ? 2 : 1;
    return queries <= launches * QUERIES_A_LAUNCH && k <= ExactLimits.FEW_HITS;
  }

  /**
   * Searches a batch. Rows and accepted ordinals on the device must stay in place until this
   * returns.
   *
   * @param hits receives the best accepted rows of every query
   * @throws IllegalArgumentException if the batch does not fit the rows
   * @throws dev.vamana.cuda.driver.GpuException if the device fails or memory is refused; another
   *     search may follow unless the context is lost
   */
  public void search(ExactRows rows, ExactBatch batch, ExactHits hits) {
    batch.check(rows);
    try {
      int candidates = TileSource.candidates(rows, batch);
      boolean many = candidates >= options.leastProducts();
      boolean multiply =
          many
              && products.supported()
              && few(batch.size(), batch.k(), (long) candidates * rows.dimension()) == false
              && batch.size() >= ProductScan.LEAST_QUERIES
              && batch.k() <= ProductScan.MOST_HITS;
      List<Integer> again = search(rows, batch, multiply, hits);
      if (multiply && rows.similarity() == VectorSimilarityFunction.COSINE) {
        addZeros(batch, again);
      }
      if (again.isEmpty() == false) {
        int[] queries = again.stream().mapToInt(q -> q).toArray();
        ExactHits second = new ExactHits();
        search(rows, batch.select(queries), false, second);
        hits.replace(queries, second);
      }
    } catch (Throwable e) {
      // nothing may be in use when the next search begins
      plain.recover();
      Cleanup.after(e, objects::synchronize);
      throw e;
    }
  }

  /**
   * A batch of {@link #searchMany}.
   *
   * @param hits receives the best accepted rows of every query
   */
  public record Asked(ExactRows rows, ExactBatch batch, ExactHits hits) {}

  /** Whether a batch of queries over these rows is better searched with others in one launch. */
  public static boolean oneOfMany(ExactRows rows, int queries) {
    return ManyScans.takes(rows, queries);
  }

  /**
   * Searches several batches in one launch, or in a few if they are very many. Otherwise as {@link
   * #search}.
   *
   * @param batches over all or accepted rows of one encoding, in place, for as many hits as {@link
   *     #few} allows
   */
  public void searchMany(List<Asked> batches) {
    for (Asked asked : batches) {
      asked.batch().check(asked.rows());
    }
    try {
      many.search(batches);
    } catch (Throwable e) {
      many.recover();
      Cleanup.after(e, objects::synchronize);
      throw e;
    }
  }

  /**
   * No score of a zero query is a number, so the hits are the first ordinals, zero rows among them.
   * Zero rows have no products, and other queries have them behind all hits.
   */
  private static void addZeros(ExactBatch batch, List<Integer> again) {
    for (int q = 0; q < batch.size(); q++) {
      if (batch.zero(q) && again.contains(q) == false) {
        again.add(q);
      }
    }
  }

  /** Searches all queries. Returns the queries to search again without matrix products. */
  private List<Integer> search(ExactRows rows, ExactBatch batch, boolean multiply, ExactHits hits) {
    hits.reset(batch.size());
    products.begin();
    List<Integer> again = new ArrayList<>();
    int most = Math.max(1, Slice.most(rows, batch.k()));
    if (multiply) {
      most = Math.min(most, Math.min(SLICE, products.mostQueries(batch.k())));
    }
    Slice before = null;
    int number = 0;
    for (int first = 0; first < batch.size(); first += most) {
      Slice slice = slices[number++ % slices.length];
      int count = Math.min(most, batch.size() - first);
      if (launch(rows, batch, multiply, slice, first, count)) {
        if (before != null) {
          before.read(hits, batch.k(), again);
        }
        before = slice;
      } else {
        hits.readNone(first, count);
      }
    }
    if (before != null) {
      before.read(hits, batch.k(), again);
    }
    return again;
  }

  /** Launches the search for a slice. Returns false if there are no candidates. */
  private boolean launch(
      ExactRows rows, ExactBatch batch, boolean multiply, Slice slice, int first, int count) {
    int most = multiply ? products.mostCandidates(rows) : plain.mostCandidates();
    int tileCount = tiles.count(rows, batch, most);
    if (tileCount == 0) {
      return false;
    }
    slice.begin(first, count, batch.k(), tileCount);
    long queries = slice.stage(rows, batch, multiply ? copyStream : stream);
    int stride = rows.queryStride();
    ProductFormat.Facts ofQueries =
        multiply ? products.facts(queries, stride, count, rows.dimension(), copyStream) : null;
    parameters.begin(rows, batch, queries, count);
    tiles.forEach(
        rows,
        batch,
        most,
        stream,
        tile -> {
          parameters.tile(tile, slice.target());
          ProductFormat.Facts ofRows = multiply ? factsOf(rows) : null;
          ProductFormat format = multiply ? ProductFormat.of(rows, ofRows, ofQueries) : null;
          if (format != null) {
            products.run(parameters, format, ofRows, slice.redo(), stream);
          } else {
            plain.run(parameters, stream);
          }
          slice.add(parameters, stream);
        });
    slice.end(stream);
    return true;
  }

  /** Returns facts about all rows. */
  private ProductFormat.Facts factsOf(ExactRows rows) {
    if (rows.encoding() == VectorEncoding.BYTE) {
      return null;
    }
    if (rows.facts().get() == null) {
      rows.facts()
          .set(
              products.facts(rows.address(), rows.stride(), rows.size(), rows.dimension(), stream));
    }
    return rows.facts().get();
  }

  /** Waits until nothing of a failed search runs any more. */
  public void drain() {
    objects.synchronize();
  }

  /** Frees memory and streams. No search may be running. */
  @Override
  public void close() {
    plain.free();
    objects.free();
  }
}
