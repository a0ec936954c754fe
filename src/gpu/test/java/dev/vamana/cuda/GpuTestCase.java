package dev.vamana.cuda;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakFilters;
import com.carrotsearch.randomizedtesting.generators.RandomPicks;
import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.api.DynamicOptions;
import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.HostLibrary;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.ivf.CodeKind;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.gpu.Gpu;
import dev.vamana.work.Workers;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnByteVectorField;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.QuickPatchThreadsFilter;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.VectorUtil;
import org.junit.AfterClass;
import org.junit.BeforeClass;

/**
 * Base class with small indexes and a simulated device that runs the project's kernels on the CPU.
 */
@ThreadLeakFilters(
    defaultFilters = true,
    filters = {QuickPatchThreadsFilter.class, HostLibrary.CleanerThread.class})
public abstract class GpuTestCase extends LuceneTestCase {

  static final String FIELD = "vector";
  static final long DEVICE_BYTES = 1L << 30;

  /** Relative difference of scores below which rounding decides which is the better one. */
  private static final float TIE = 1e-5f;

  static final BatchOptions BATCHES =
      BatchOptions.DEFAULT.withBatches(512, 0).withSegmentsAhead(false);

  /**
   * Options without self-tests, whose calls tests would count as their own, and with a deadline
   * that simulated kernels meet on a machine that has much else to do.
   */
  static final GpuOptions QUIET =
      GpuOptions.DEFAULT.withTimes(times -> times.selfTest(0).deadline(TimeUnit.HOURS.toNanos(1)));

  /** Options of executors that are to walk. */
  static final GpuOptions WALKS = QUIET.withPlan(PlanMode.GRAPH);

  /** Half of the memory for segments that are placed exactly, no linger. */
  static DynamicOptions dynamic(boolean segmentsAhead, boolean waitForUpload, PlanMode plan) {
    return new DynamicOptions(
        MemoryLimit.percent(50),
        MemoryLimit.percent(50),
        Placement.only(Placement.EXACT),
        BATCHES.maxBatch(),
        0,
        segmentsAhead,
        waitForUpload,
        plan);
  }

  /** Null if only a device can run them. */
  static SimtKernels kernels;

  @BeforeClass
  public static void loadKernels() {
    kernels = HostLibrary.built() || Gpu.missing() != null ? SimtKernels.load() : null;
  }

  @AfterClass
  public static void forgetKernels() {
    kernels = null;
  }

  static SimulatedDriver driver() {
    assumeTrue("needs kernels of the host", kernels != null);
    return new SimulatedDriver(kernels, DEVICE_BYTES, random().nextBoolean());
  }

  /** Devices of which each fails now and then, each in its own way. */
  static Supplier<CudaDriver> failingAtRandom(Supplier<CudaDriver> devices) {
    AtomicLong seed = new AtomicLong(random().nextLong());
    return () -> new FaultyDriver(devices.get()).failAtRandom(seed.incrementAndGet(), 0.01);
  }

  /** Opens an executor on devices that may fail at once. */
  static GpuExecutor openAtLast(Supplier<GpuExecutor> open) {
    for (int attempt = 0; attempt < 100; attempt++) {
      try {
        return open.get();
      } catch (GpuException e) {
        assertNotNull(e.getMessage());
      }
    }
    throw new AssertionError("never opens");
  }

  /** A listener that fails nothing and remembers nothing. */
  static class QuietListener implements GpuListener {
    @Override
    public void fallback(FallbackReason reason, String detail) {}

    @Override
    public void lost(dev.vamana.cuda.driver.GpuException cause, long retryMillis) {}

    @Override
    public void stillLost(dev.vamana.cuda.driver.GpuException cause, long retryMillis) {}

    @Override
    public void recovered(dev.vamana.cuda.driver.DeviceInfo device) {}
  }

  /** Waits until a condition holds; fails if that takes longer than two minutes. */
  static void await(BooleanSupplier condition) throws InterruptedException {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(2);
    // what holds once need not hold when it is asked again
    boolean holds = condition.getAsBoolean();
    while (holds == false && System.nanoTime() - end < 0) {
      Thread.sleep(1);
      holds = condition.getAsBoolean();
    }
    assertTrue("not within two minutes", holds);
  }

  /** Waits until so many items are on their way to the device, or on it. */
  static void awaitPending(GpuExecutor executor, long items) throws InterruptedException {
    await(() -> executor.statistics().counter("now", "items_pending") >= items);
  }

  /** All segments are put on the device in this way, and there is room for them. */
  static ResidencyOptions everything(Placement placement) {
    return ResidencyOptions.defaults(1L << 40)
        .withPlacement(placement)
        .withLimits(MemoryLimit.percent(100), MemoryLimit.percent(100));
  }

  /** Opens an executor on whose device segments are when they have been opened. */
  static GpuExecutor openAtOnce(
      GpuOptions options,
      Supplier<CudaDriver> drivers,
      ResidencyOptions residency,
      GpuListener listener) {
    // who comes while another thread uploads waits for it
    GpuOptions waiting = options.withWaitForUpload(true);
    return GpuExecutor.open(drivers, residency, waiting, Uploads::new, listener);
  }

  /** Opens an executor on whose device no segment ever is. */
  static GpuExecutor openWithout(
      GpuOptions options, Supplier<CudaDriver> drivers, GpuListener listener) {
    return GpuExecutor.open(
        drivers, everything(Placement.EXACT), options, () -> new Uploads().delay(), listener);
  }

  /** Returns the bytes of all segments on the device, also of closed ones that are in use. */
  static long residentBytes(GpuExecutor executor) {
    GpuStatistics statistics = executor.statistics();
    return statistics.counter("residency", "device_bytes")
        - statistics.counter("residency", "scratch_bytes");
  }

  /** An index with a graph and codes in every segment, or with inverted lists. */
  static final class TestIndex implements Closeable {
    private static final VamanaParameters GRAPHS =
        VamanaParameters.DEFAULT.withGraph(16, 40, 1.2f).withThresholds(0, 0);

    final VectorEncoding encoding;
    final VectorSimilarityFunction similarity;
    final int dimension;
    final int size;
    final Directory directory;
    final DirectoryReader reader;
    final Random random;
    private boolean hidesVectors;

    TestIndex(
        VectorEncoding encoding,
        VectorSimilarityFunction similarity,
        int dimension,
        int size,
        int segments)
        throws IOException {
      this(encoding, similarity, dimension, size, segments, newDirectory());
    }

    /** As the other one, in a directory that is closed with the index. */
    TestIndex(
        VectorEncoding encoding,
        VectorSimilarityFunction similarity,
        int dimension,
        int size,
        int segments,
        Directory directory)
        throws IOException {
      this(encoding, similarity, dimension, size, segments, GRAPHS, directory);
    }

    private TestIndex(
        VectorEncoding encoding,
        VectorSimilarityFunction similarity,
        int dimension,
        int size,
        int segments,
        VamanaParameters parameters,
        Directory directory)
        throws IOException {
      this.encoding = encoding;
      this.similarity = similarity;
      this.dimension = dimension;
      this.size = size;
      this.random = new Random(LuceneTestCase.random().nextLong());
      this.directory = directory;
      VamanaVectorsFormat format = new VamanaVectorsFormat(parameters, Workers.callingThread());
      IndexWriterConfig config =
          new IndexWriterConfig()
              .setCodec(TestUtil.alwaysKnnVectorsFormat(format))
              .setMergePolicy(NoMergePolicy.INSTANCE);
      try (IndexWriter writer = new IndexWriter(directory, config)) {
        for (int id = 0; id < size; id++) {
          Document document = new Document();
          QueryVector vector = vector();
          document.add(
              vector.floats() != null
                  ? new KnnFloatVectorField(FIELD, vector.floats(), similarity)
                  : new KnnByteVectorField(FIELD, vector.bytes(), similarity));
          document.add(new org.apache.lucene.document.IntField("id", id, Field.Store.NO));
          writer.addDocument(document);
          if ((long) (id + 1) * segments / size > (long) id * segments / size) {
            writer.flush();
          }
        }
        writer.commit();
      }
      this.reader = DirectoryReader.open(directory);
    }

    /** Segments of vectors alone, of which each has {@code size / segments}. */
    static TestIndex withoutGraphs(int dimension, int size, int segments) throws IOException {
      return new TestIndex(
          LuceneTestCase.random().nextInt(3) == 0 ? VectorEncoding.BYTE : VectorEncoding.FLOAT32,
          VectorSimilarityFunction.values()[LuceneTestCase.random().nextInt(4)],
          dimension,
          size,
          segments,
          GRAPHS.withThresholds(size + 1, 0),
          newDirectory());
    }

    /** An index of inverted lists, of floats that a device reads in place. */
    static TestIndex ofLists(int size, int segments) throws IOException {
      return ofLists(size, segments, 8 + 4 * LuceneTestCase.random().nextInt(10));
    }

    /** As above. The more dimensions, the more lists a query's neighbours are spread over. */
    static TestIndex ofLists(int size, int segments, int dimension) throws IOException {
      return new TestIndex(
          VectorEncoding.FLOAT32,
          VectorSimilarityFunction.values()[LuceneTestCase.random().nextInt(4)],
          dimension,
          size,
          segments,
          VamanaParameters.DEFAULT
              .withThresholds(0, 0)
              .withType(
                  IndexType.IVF,
                  RandomPicks.randomFrom(LuceneTestCase.random(), CodeKind.values())),
          new MMapDirectory(createTempDir()));
    }

    static TestIndex any(int size, int segments) throws IOException {
      return any(size, segments, newDirectory());
    }

    static TestIndex any(int size, int segments, Directory directory) throws IOException {
      return new TestIndex(
          LuceneTestCase.random().nextInt(3) == 0 ? VectorEncoding.BYTE : VectorEncoding.FLOAT32,
          VectorSimilarityFunction.values()[LuceneTestCase.random().nextInt(4)],
          8 + LuceneTestCase.random().nextInt(40),
          size,
          segments,
          directory);
    }

    /** A vector like the index's vectors. */
    QueryVector vector() {
      float[] vector = new float[dimension];
      for (int d = 0; d < dimension; d++) {
        vector[d] = (float) random.nextGaussian();
      }
      if (encoding == VectorEncoding.BYTE) {
        byte[] bytes = new byte[dimension];
        for (int d = 0; d < dimension; d++) {
          bytes[d] = (byte) Math.max(-127, Math.min(127, Math.round(40 * vector[d])));
        }
        return QueryVector.of(bytes);
      }
      if (similarity == VectorSimilarityFunction.DOT_PRODUCT) {
        VectorUtil.l2normalize(vector);
      }
      return QueryVector.of(vector);
    }

    /** Has segments whose exact vectors no device can read from now on. */
    TestIndex hidingVectors() {
      hidesVectors = true;
      return this;
    }

    List<SegmentView> views() throws IOException {
      List<SegmentView> views = new ArrayList<>();
      for (LeafReaderContext leaf : reader.leaves()) {
        KnnVectorsReader vectors = ((CodecReader) leaf.reader()).getVectorReader();
        if (vectors instanceof PerFieldKnnVectorsFormat.FieldsReader perField) {
          vectors = perField.getFieldReader(FIELD);
        }
        SegmentView view = ((SegmentViews) vectors).view(FIELD);
        views.add(hidesVectors ? new OtherFiles(view, view.graphRegion(), null) : view);
      }
      return views;
    }

    /**
     * Items over random segments, to be walked on these distances unless a scan is better. The
     * first is walked in segments of 300 vectors or more: of ten others, all are scanned once in
     * some hundred seeds, and then a device that only walks would never be asked.
     */
    List<WorkItem> items(int count, WalkParameters.Distances distances) throws IOException {
      List<SegmentView> views = views();
      FixedBitSet[] filters = new FixedBitSet[views.size()];
      List<WorkItem> items = new ArrayList<>();
      while (items.size() < count) {
        int segment = random.nextInt(views.size());
        SegmentView view = views.get(segment);
        boolean walked = items.isEmpty();
        int k = 1 + random.nextInt(walked ? 6 : 12);
        FixedBitSet accepted = null;
        if (walked == false && random.nextInt(3) == 0) {
          if (filters[segment] == null || random.nextInt(5) == 0) {
            filters[segment] = mostly(view.size());
          }
          accepted = filters[segment];
        }
        WalkParameters walk =
            new WalkParameters(
                k + random.nextInt(walked ? 6 : 30),
                distances,
                1 + random.nextInt(3),
                random.nextInt(30) - 1);
        int[] entryPoints = new int[random.nextInt(4) == 0 ? 1 + random.nextInt(3) : 0];
        for (int i = 0; i < entryPoints.length; i++) {
          entryPoints[i] = random.nextInt(view.size());
        }
        items.add(
            new WorkItem(
                view,
                vector(),
                k,
                walk,
                accepted,
                accepted == null ? view.size() : accepted.cardinality(),
                Long.MAX_VALUE,
                () -> false,
                entryPoints));
      }
      return items;
    }

    private FixedBitSet mostly(int bits) {
      FixedBitSet set = new FixedBitSet(bits);
      for (int i = 0; i < bits; i++) {
        if (random.nextInt(10) < 7) {
          set.set(i);
        }
      }
      return set;
    }

    @Override
    public void close() throws IOException {
      IOUtils.close(reader, directory);
    }
  }

  /** Returns the sum of a group of counters. */
  static long sum(GpuStatistics statistics, String group) {
    return statistics.counters().get(group).values().stream().mapToLong(Long::longValue).sum();
  }

  static List<WorkResult> onCpu(List<WorkItem> items) throws IOException {
    return new CpuExecutor(Workers.callingThread()).search(items);
  }

  /**
   * Asserts that results are the same: of nearly all ranks the ordinals are, or at least the scores
   * to within the rounding of sums that are added up in different orders. Equal scores, not equal
   * places: any seed has neighbours that are as near, to rounding, and change places.
   *
   * @param share of the ranks that have to be the same, since a walk that meets two such neighbours
   *     in the other order may go on elsewhere. In 20 to 40 seeds of each class all ranks of exact
   *     walks were the same, and at least 0.997 of the ranks of walks on codes; the shares that
   *     tests ask for are at least 0.02 below
   */
  static void assertSame(List<WorkResult> expected, List<WorkResult> actual, double share) {
    assertEquals(expected.size(), actual.size());
    int ranks = 0;
    int same = 0;
    for (int i = 0; i < expected.size(); i++) {
      WorkResult a = expected.get(i);
      WorkResult b = actual.get(i);
      if (share < 1
          && (a.complete() != b.complete() || a.ordinals().length != b.ordinals().length)) {
        ranks += Math.max(a.ordinals().length, b.ordinals().length);
        continue; // one of them met its visit limit a node earlier
      }
      assertEquals("item " + i, a.ordinals().length, b.ordinals().length);
      assertEquals("item " + i, a.complete(), b.complete());
      for (int rank = 0; rank < a.ordinals().length; rank++) {
        ranks++;
        float score = a.scores()[rank];
        if (a.ordinals()[rank] == b.ordinals()[rank]) {
          same++;
          assertEquals(score, b.scores()[rank], 1e-4f * Math.max(1, Math.abs(score)));
        } else if (Math.abs(score - b.scores()[rank]) <= TIE * Math.max(0.01f, Math.abs(score))) {
          same++;
        }
      }
    }
    assertTrue(same + " of " + ranks + " ranks are the same", same >= share * ranks);
  }
}
