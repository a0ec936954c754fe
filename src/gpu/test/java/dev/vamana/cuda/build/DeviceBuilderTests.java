package dev.vamana.cuda.build;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakFilters;
import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.HostLibrary;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.cuda.training.TrainingDevice;
import dev.vamana.graph.BuildParameters;
import dev.vamana.graph.ExistingGraph;
import dev.vamana.graph.GraphChecks;
import dev.vamana.graph.GraphEngine;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.VamanaGraph;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.MergePolicy;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.QuickPatchThreadsFilter;
import org.junit.AfterClass;
import org.junit.BeforeClass;

/** Builds graphs on the CPU and on a simulated device, and asks the same of both. */
@ThreadLeakFilters(
    defaultFilters = true,
    filters = {QuickPatchThreadsFilter.class, HostLibrary.CleanerThread.class})
public class DeviceBuilderTests extends LuceneTestCase {

  private static final VectorSimilarityFunction EUCLIDEAN = VectorSimilarityFunction.EUCLIDEAN;

  private static SimtKernels kernels;

  @BeforeClass
  public static void loadKernels() {
    kernels = SimtKernels.load();
  }

  @AfterClass
  public static void forgetKernels() {
    kernels = null;
  }

  /** A builder with a driver of its own. Closing it checks that all memory has been given back. */
  private static final class Builder implements GraphEngine, AutoCloseable {
    final FaultyDriver driver =
        new FaultyDriver(new SimulatedDriver(kernels, 1L << 30, random().nextBoolean()));
    final AtomicLong used = new AtomicLong();
    final AtomicLong most = new AtomicLong();
    final AtomicInteger lost = new AtomicInteger();
    final SessionHostMemory hostMemory = new SessionHostMemory(HostMemoryAccount.UNLIMITED);
    final TrainingDevice transfers;
    final DeviceBuilder builder;
    long limit = Long.MAX_VALUE;

    Builder() {
      this(random().nextBoolean());
    }

    /**
     * Makes a builder.
     *
     * @param searched whether searches come all the time
     */
    Builder(boolean searched) {
      LongSupplier launches = searched ? new AtomicLong()::incrementAndGet : () -> 0;
      driver.bind();
      DeviceBudget budget =
          new DeviceBudget() {
            @Override
            public boolean reserve(long bytes) {
              long now = used.addAndGet(bytes);
              boolean granted = now <= limit || release(bytes, false);
              most.accumulateAndGet(granted ? now : 0, Math::max);
              return granted;
            }

            private boolean release(long bytes, boolean result) {
              used.addAndGet(-bytes);
              return result;
            }

            @Override
            public void release(long bytes) {
              used.addAndGet(-bytes);
            }
          };
      transfers = new TrainingDevice(driver, hostMemory, budget);
      builder =
          new DeviceBuilder(
              driver, transfers, budget, e -> lost.incrementAndGet(), new RecentSearches(launches));
    }

    @Override
    public VamanaGraph build(GraphTask task) throws IOException {
      if (DeviceBuilder.supports(task) == false) {
        return null;
      }
      try (BuiltRows rows = BuiltRows.begin(task)) {
        builder.build(task, rows);
        return rows.finish();
      }
    }

    @Override
    public void close() {
      assertEquals(0, used.get());
      driver.bind();
      transfers.free();
      hostMemory.close();
      driver.close();
    }
  }

  private interface Asks {
    void of(GraphEngine engine) throws IOException;
  }

  private static void bothEngines(Asks asks) throws IOException {
    asks.of(GraphEngine.CPU);
    try (Builder builder = new Builder()) {
      asks.of(builder);
      assertEquals(0, builder.lost.get());
    }
  }

  private static void assertWellFormed(GraphEngine engine, GraphTask task) throws IOException {
    try (VamanaGraph graph = engine.build(task)) {
      GraphChecks.assertWellFormed(graph, task.size());
    }
  }

  private static BuildParameters parameters(int degree, int passes) {
    int beam = degree + random().nextInt(40);
    return new BuildParameters(degree, beam, 1.2f, random().nextLong(), passes);
  }

  private static VectorSimilarityFunction squaredDistances() {
    return random().nextBoolean() ? EUCLIDEAN : VectorSimilarityFunction.COSINE;
  }

  public void testGraphsOfAnySizeAreWellFormed() throws IOException {
    for (int size : new int[] {1, 2, 3, 2 + random().nextInt(60), 200 + random().nextInt(200)}) {
      int dimension = 1 + random().nextInt(40);
      List<float[]> vectors = GraphChecks.clustered(random(), size, dimension, 1 + size / 50);
      KnnVectorValues values =
          random().nextBoolean() ? GraphChecks.floats(vectors) : GraphChecks.bytes(vectors);
      GraphTask task =
          GraphChecks.task(
              values,
              squaredDistances(),
              parameters(4 + random().nextInt(30), 1 + random().nextInt(2)));
      bothEngines(
          engine -> {
            try (VamanaGraph graph = engine.build(task)) {
              assertEquals(task.parameters().maxDegree(), graph.maxDegree());
              assertEquals(task.medoid(), graph.entryPoint());
              assertEquals(0, graph.reusedNodes());
              GraphChecks.assertWellFormed(graph, size);
            }
          });
    }
  }

  public void testSearchesDoNotChangeTheGraph() throws IOException {
    List<float[]> vectors = GraphChecks.clustered(random(), 500, 1 + random().nextInt(40), 10);
    GraphTask task =
        GraphChecks.task(GraphChecks.floats(vectors), squaredDistances(), parameters(20, 2));
    try (Builder busy = new Builder(true);
        Builder idle = new Builder(false);
        VamanaGraph beside = busy.build(task);
        VamanaGraph alone = idle.build(task)) {
      GraphChecks.assertSame(alone, beside);
    }
  }

  public void testEqualVectors() throws IOException {
    int size = 300 + random().nextInt(200);
    int distinct = 1 + random().nextInt(3);
    List<float[]> different = GraphChecks.clustered(random(), distinct, 6, distinct);
    List<float[]> vectors = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      vectors.add(different.get(random().nextInt(distinct)));
    }
    GraphTask task =
        GraphChecks.task(GraphChecks.floats(vectors), squaredDistances(), parameters(4, 2));
    bothEngines(engine -> assertWellFormed(engine, task));
  }

  public void testLongestRowsAndWidestBeams() throws IOException {
    List<float[]> vectors = GraphChecks.clustered(random(), 600, 5, 9);
    BuildParameters longest = new BuildParameters(128, 600, 2f, random().nextLong(), 1);
    GraphTask task = GraphChecks.task(GraphChecks.floats(vectors), EUCLIDEAN, longest);
    bothEngines(engine -> assertWellFormed(engine, task));
  }

  public void testSearchesFindAsMuchForTheSameWork() throws IOException {
    int size = 1_200;
    int dimension = 20 + random().nextInt(12);
    boolean bytes = random().nextBoolean();
    List<float[]> vectors = GraphChecks.clustered(random(), size, dimension, 24);
    GraphTask task =
        GraphChecks.task(
            bytes ? GraphChecks.bytes(vectors) : GraphChecks.floats(vectors),
            squaredDistances(),
            new BuildParameters(24, 64, 1.2f, random().nextLong()));
    assertAsGoodAsTheCpus(task);
  }

  private static void assertAsGoodAsTheCpus(GraphTask task) throws IOException {
    int[] queries = random().ints(200, 0, task.size()).toArray();
    GraphChecks.Found cpu = GraphChecks.search(task, GraphEngine.CPU.build(task), queries, 24);
    try (Builder builder = new Builder();
        VamanaGraph graph = builder.build(task);
        VamanaGraph again = builder.build(task)) {
      GraphChecks.assertWellFormed(graph, task.size());
      GraphChecks.Found device = GraphChecks.search(task, graph, queries, 24);
      String both = cpu + " " + device;
      assertTrue(both, device.recall() > cpu.recall() - 0.03);
      // the CPU's second pass starts from a node's neighbours, which leaves shorter rows among
      // clusters
      assertTrue(both, device.distances() < 1.2 * cpu.distances());
      GraphChecks.assertSame(graph, again);
    }
  }

  public void testExistingGraphsAreExtended() throws IOException {
    int before = 300 + random().nextInt(300);
    int size = before + random().nextInt(300);
    List<float[]> vectors = GraphChecks.clustered(random(), size, 10, 20);
    BuildParameters parameters = parameters(16, 2);
    GraphTask first =
        GraphChecks.task(GraphChecks.floats(vectors.subList(0, before)), EUCLIDEAN, parameters);
    VamanaGraph old = GraphEngine.CPU.build(first);
    // the new graph has the old vectors at other places, without some of them
    List<Integer> places = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      places.add(i);
    }
    Collections.shuffle(places, new Random(random().nextLong()));
    int deleted = random().nextInt(before / 3);
    int[] newOrdinals = new int[before];
    List<float[]> moved = new ArrayList<>(Collections.nCopies(size - deleted, null));
    int at = 0;
    List<Integer> order = new ArrayList<>(places);
    order.removeIf(place -> place >= size - deleted);
    for (int i = 0; i < size; i++) {
      if (i < deleted) {
        newOrdinals[i] = -1;
      } else {
        int place = order.get(at++);
        moved.set(place, vectors.get(i));
        if (i < before) {
          newOrdinals[i] = place;
        }
      }
    }
    ExistingGraph existing =
        new ExistingGraph(old.rows(), old.entryPoint(), 1 + random().nextInt(2), newOrdinals);
    GraphTask task =
        GraphChecks.task(
            GraphChecks.floats(moved),
            EUCLIDEAN,
            parameters,
            existing,
            Workers.callingThread(),
            AbortCheck.NEVER);
    int[] queries = random().ints(100, 0, moved.size()).toArray();
    bothEngines(
        engine -> {
          try (VamanaGraph graph = engine.build(task)) {
            assertEquals(before - deleted, graph.reusedNodes());
            GraphChecks.assertWellFormed(graph, moved.size());
            GraphChecks.Found found = GraphChecks.search(task, graph, queries, 40);
            assertTrue(found.toString(), found.recall() > 0.9);
          }
        });
  }

  public void testInnerProductsOfLengthsThatDiffer() throws IOException {
    int size = 1_200;
    List<float[]> vectors = GraphChecks.clustered(random(), size, 6 + random().nextInt(20), 24);
    boolean bytes = random().nextBoolean();
    if (bytes == false) {
      for (int i = 0; i < size; i++) {
        // a few are equal, and a few are zero
        float length = i % 100 == 0 ? 0 : (float) Math.exp(random().nextGaussian());
        float[] vector = i % 50 == 25 ? vectors.get(i - 1) : vectors.get(i);
        float[] scaled = vector.clone();
        for (int d = 0; d < scaled.length; d++) {
          scaled[d] *= length;
        }
        vectors.set(i, scaled);
      }
    }
    GraphTask task =
        GraphChecks.task(
            bytes ? GraphChecks.bytes(vectors) : GraphChecks.floats(vectors),
            bytes
                ? VectorSimilarityFunction.DOT_PRODUCT
                : VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT,
            new BuildParameters(24, 64, 1.2f, random().nextLong()));
    assertAsGoodAsTheCpus(task);
  }

  public void testVectorsThatScoresCannotCompareAreTheCpus() throws IOException {
    List<float[]> vectors = GraphChecks.clustered(random(), 50, 4, 5);
    for (float[] vector : vectors) {
      for (int d = 0; d < vector.length; d++) {
        vector[d] *= 1e-4f;
      }
    }
    VectorSimilarityFunction similarity =
        random().nextBoolean() ? EUCLIDEAN : VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT;
    GraphTask task = GraphChecks.task(GraphChecks.floats(vectors), similarity, parameters(8, 2));
    try (Builder builder = new Builder()) {
      assertNull(builder.build(task));
    }
  }

  public void testTooLittleDeviceMemory() throws IOException {
    List<float[]> vectors = GraphChecks.clustered(random(), 500, 30 + random().nextInt(30), 20);
    GraphTask task = GraphChecks.task(GraphChecks.floats(vectors), EUCLIDEAN, parameters(16, 2));
    try (Builder builder = new Builder(false);
        VamanaGraph graph = builder.build(task)) {
      builder.limit = builder.most.get() - 1;
      GpuException e = expectThrows(GpuException.class, () -> builder.build(task));
      assertEquals(GpuException.Kind.OUT_OF_MEMORY, e.kind());
      builder.limit++;
      try (VamanaGraph again = builder.build(task)) {
        GraphChecks.assertSame(graph, again);
      }
    }
  }

  public void testAbortedBuildsEnd() throws IOException {
    List<float[]> vectors = GraphChecks.clustered(random(), 300, 8, 9);
    for (int i = 0; i < 20; i++) {
      int last = i;
      AtomicInteger checks = new AtomicInteger();
      MergePolicy.MergeAbortedException aborted = new MergePolicy.MergeAbortedException("aborted");
      GraphTask task =
          GraphChecks.task(
              GraphChecks.floats(vectors),
              EUCLIDEAN,
              parameters(8, 2),
              null,
              Workers.callingThread(),
              () -> {
                if (checks.getAndIncrement() >= last) {
                  throw aborted;
                }
              });
      try (Builder builder = new Builder()) {
        assertSame(aborted, expectThrows(IOException.class, () -> builder.build(task)));
        assertEquals(0, builder.used.get());
      }
    }
  }
}
