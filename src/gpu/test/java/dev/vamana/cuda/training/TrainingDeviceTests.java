package dev.vamana.cuda.training;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakFilters;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.kernel.HostLibrary;
import dev.vamana.cuda.kernel.SimtKernels;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.PqEncoder;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.RowSource;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.pq.TrainingSample;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.QuickPatchThreadsFilter;
import org.apache.lucene.util.NamedThreadFactory;
import org.junit.AfterClass;
import org.junit.BeforeClass;

/** Compares training and encoding on a simulated device with the CPU's. */
@ThreadLeakFilters(
    defaultFilters = true,
    filters = {QuickPatchThreadsFilter.class, HostLibrary.CleanerThread.class})
public class TrainingDeviceTests extends LuceneTestCase {

  private static SimtKernels kernels;

  @BeforeClass
  public static void loadKernels() {
    kernels = SimtKernels.load();
  }

  @AfterClass
  public static void forgetKernels() {
    kernels = null;
  }

  private static SimulatedDriver driver() {
    return new SimulatedDriver(kernels, 1L << 30, random().nextBoolean());
  }

  /** Counts the memory that is taken and given back. */
  private static final class Budget implements DeviceBudget {
    final AtomicLong used = new AtomicLong();
    final long limit;

    Budget(long limit) {
      this.limit = limit;
    }

    @Override
    public boolean reserve(long bytes) {
      if (used.get() + bytes > limit) {
        return false;
      }
      used.addAndGet(bytes);
      return true;
    }

    @Override
    public void release(long bytes) {
      used.addAndGet(-bytes);
    }
  }

  private static SessionHostMemory hostMemory() {
    return new SessionHostMemory(HostMemoryAccount.UNLIMITED);
  }

  /** Clustered rows, of integers or of any floats. */
  private static float[][] rows(int n, int dims, boolean integers) {
    Random random = new Random(random().nextLong());
    float[][] rows = new float[n][dims];
    for (int i = 0; i < n; i++) {
      int cluster = random.nextInt(60);
      for (int d = 0; d < dims; d++) {
        double value = (cluster * 37 + d * 11) % 97 + random.nextGaussian() * 20;
        rows[i][d] = integers ? (float) Math.rint(value) : (float) value;
      }
      if (i > 0 && random.nextInt(6) == 0) {
        rows[i] = rows[random.nextInt(i)];
      }
    }
    return rows;
  }

  private static double error(float[] centroids, SubspaceLayout layout, TrainingSample sample)
      throws IOException {
    return new Codebook(CodebookId.random(), layout, centroids)
        .quantizationError(sample, AbortCheck.NEVER);
  }

  public void testTrainsAsTheCpu() throws IOException {
    for (int round = 0; round < 6; round++) {
      boolean integers = round % 2 == 0;
      int dims = 1 + random().nextInt(60);
      int subspaces = 1 + random().nextInt(Math.min(dims, 12));
      // one round of several pieces is enough: simulated threads are slow
      int n = 1 + random().nextInt(round == 0 ? 300 : round == 5 ? 9_000 : 2_000);
      SubspaceLayout layout = new SubspaceLayout(dims, subspaces);
      TrainingSample sample = TrainingSample.of(dims, rows(n, dims, integers));
      PqTrainer.Options options =
          new PqTrainer.Options(random().nextLong(), 1 + random().nextInt(5), 2, 0.001);
      Codebook expected =
          PqTrainer.train(sample, layout, CodebookId.random(), options, AbortCheck.NEVER);
      SimulatedDriver driver = driver();
      driver.bind();
      Budget budget = new Budget(Long.MAX_VALUE);
      TrainingDevice device = new TrainingDevice(driver, hostMemory(), budget);
      float[] actual =
          device.train(sample, layout, options, Workers.callingThread(), AbortCheck.NEVER);
      assertArrayEquals(
          actual,
          device.train(sample, layout, options, Workers.callingThread(), AbortCheck.NEVER),
          0);
      if (integers) {
        // sums of integers are exact, so the order of additions does not show
        assertArrayEquals(expected.centroids(), actual, 0);
      } else {
        double error = expected.quantizationError(sample, AbortCheck.NEVER);
        assertEquals(error, error(actual, layout, sample), 0.001 * error + 1e-9);
      }
      assertEquals(0, budget.used.get());
      device.free();
      driver.close();
    }
  }

  public void testEncodesAsTheCpu() throws IOException {
    int dims = 1 + random().nextInt(300);
    SubspaceLayout layout = new SubspaceLayout(dims, 1 + random().nextInt(Math.min(dims, 256)));
    int n = 1 + random().nextInt(20_000);
    float[][] rows = rows(n, dims, random().nextBoolean());
    TrainingSample sample = TrainingSample.of(dims, Arrays.copyOf(rows, Math.min(n, 500)));
    Codebook codebook =
        PqTrainer.train(
            sample, layout, CodebookId.random(), PqTrainer.Options.defaults(1), AbortCheck.NEVER);
    byte[] expected = new byte[n * layout.count()];
    PqEncoder encoder = new PqEncoder(codebook);
    for (int i = 0; i < n; i++) {
      encoder.encode(rows[i], expected, i * layout.count());
    }
    SimulatedDriver driver = driver();
    driver.bind();
    TrainingDevice device = new TrainingDevice(driver, hostMemory(), DeviceBudget.UNLIMITED);
    RowSource source = () -> (row, target) -> System.arraycopy(rows[row], 0, target, 0, dims);
    byte[] actual = new byte[expected.length];
    try (NearestCentroids onDevice = device.encoder(codebook, AbortCheck.NEVER)) {
      onDevice.encode(source, n, actual, Workers.callingThread(), AbortCheck.NEVER);
      assertArrayEquals(expected, actual);
      Arrays.fill(actual, (byte) 0);
      int fewer = 1 + random().nextInt(n);
      onDevice.encode(source, fewer, actual, Workers.callingThread(), AbortCheck.NEVER);
      assertArrayEquals(
          Arrays.copyOf(expected, fewer * layout.count()),
          Arrays.copyOf(actual, fewer * layout.count()));
    }
    device.free();
    driver.close();
  }

  /** Threads fill several buffers more than there are, one of them slowly, or fails. */
  public void testManyThreadsFillTheBuffers() throws Exception {
    int dims = 1_000 + random().nextInt(1_000);
    int n = (RowFeed.COUNT + 2) * RowFeed.BYTES / (dims * Float.BYTES);
    float[][] rows = rows(n, dims, true);
    SubspaceLayout layout = new SubspaceLayout(dims, 1 + random().nextInt(4));
    float[] centroids = new float[Codebook.CENTROIDS * dims];
    for (int i = 0; i < centroids.length; i++) {
      centroids[i] = random().nextInt(100);
    }
    Codebook codebook = new Codebook(CodebookId.random(), layout, centroids);
    int threads = 1 + random().nextInt(6);
    ExecutorService pool = Executors.newFixedThreadPool(threads, new NamedThreadFactory("feed"));
    SimulatedDriver driver = driver();
    driver.bind();
    TrainingDevice device = new TrainingDevice(driver, hostMemory(), DeviceBudget.UNLIMITED);
    try (NearestCentroids onDevice = device.encoder(codebook, AbortCheck.NEVER)) {
      Workers workers = new Workers(pool, threads + 1);
      int slow = random().nextInt(n);
      RowSource source =
          () ->
              (row, target) -> {
                if (row == slow) {
                  LockSupport.parkNanos(50_000_000);
                }
                System.arraycopy(rows[row], 0, target, 0, dims);
              };
      byte[] actual = new byte[n * layout.count()];
      onDevice.encode(source, n, actual, workers, AbortCheck.NEVER);
      PqEncoder encoder = new PqEncoder(codebook);
      byte[] expected = new byte[n * layout.count()];
      for (int i = 0; i < n; i++) {
        encoder.encode(rows[i], expected, i * layout.count());
      }
      assertArrayEquals(expected, actual);
      IOException broken = new IOException("cannot be read");
      int bad = random().nextInt(n);
      RowSource failing =
          () ->
              (row, target) -> {
                if (row >= bad) {
                  throw broken;
                }
              };
      assertSame(
          broken,
          expectThrows(
              IOException.class,
              () -> onDevice.encode(failing, n, actual, workers, AbortCheck.NEVER)));
      IOException stop = new IOException("stop");
      AtomicInteger left = new AtomicInteger(random().nextInt(n / 64));
      AbortCheck abort =
          () -> {
            if (left.getAndDecrement() <= 0) {
              throw stop;
            }
          };
      assertSame(
          stop,
          expectThrows(
              IOException.class, () -> onDevice.encode(source, n, actual, workers, abort)));
      Arrays.fill(actual, (byte) 0);
      int fewer = n / 4;
      onDevice.encode(RowSource.of(rows), fewer, actual, workers, AbortCheck.NEVER);
      int length = fewer * layout.count();
      assertArrayEquals(Arrays.copyOf(expected, length), Arrays.copyOf(actual, length));
    } finally {
      pool.shutdown();
      assertTrue(pool.awaitTermination(1, TimeUnit.MINUTES));
    }
    device.free();
    driver.close();
  }
}
