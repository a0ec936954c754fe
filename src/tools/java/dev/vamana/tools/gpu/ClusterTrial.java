package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.cuda.training.DeviceRows;
import dev.vamana.cuda.training.TrainingDevice;
import dev.vamana.tools.datasets.VectorTable;
import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Times k-means on a set like MNIST8M, which consists of 8.1 million deformed images of MNIST: here
 * each image is shifted by a few pixels and gets some noise. Runs 20 iterations with 256 and 4,096
 * centroids, as the Faiss paper does (section 6.2), and reports the paper's times on one Titan X
 * for comparison. Rows are bytes in device memory when the time starts; drawing the seeds is
 * included.
 */
final class ClusterTrial {

  private static final int VECTORS = 8_100_000;
  private static final int SIDE = 28;
  private static final int ITERATIONS = 20;
  private static final int TOGETHER = 8192;
  private static final int MOVED = 3;
  private static final int NOISE = 16;
  private static final int ROUNDS = 3;
  // bytes behind the last row that a kernel may read
  private static final int SLACK = 64;

  private final Stage.Context context;
  private final byte[][] images;

  ClusterTrial(Stage.Context context, VectorTable base) {
    this.context = context;
    this.images = new byte[base.size()][SIDE * SIDE];
    for (int i = 0; i < images.length; i++) {
      for (int d = 0; d < SIDE * SIDE; d++) {
        images[i][d] = (byte) (int) base.rows()[i][d];
      }
    }
  }

  void run() throws IOException {
    int dims = SIDE * SIDE;
    try (CudaDriver driver = Gpu.openDriver()) {
      driver.bind();
      SessionHostMemory hostMemory = new SessionHostMemory(HostMemoryAccount.UNLIMITED);
      TrainingDevice device = new TrainingDevice(driver, hostMemory, DeviceBudget.UNLIMITED);
      long address = driver.allocate((long) VECTORS * dims + SLACK);
      try {
        upload(driver, address, dims);
        DeviceRows rows = new DeviceRows(address, dims, VECTORS, dims, true);
        cluster(device, rows, 256, 140);
        cluster(device, rows, 4096, 316);
      } finally {
        driver.free(address);
        device.free();
      }
    }
  }

  private void upload(CudaDriver driver, long address, int dims) throws IOException {
    CudaDriver.PinnedMemory pinned = driver.allocatePinned((long) TOGETHER * dims);
    long stream = driver.createStream();
    try {
      MemorySegment buffer = pinned.segment();
      for (int first = 0; first < VECTORS; first += TOGETHER) {
        int from = first;
        int count = Math.min(TOGETHER, VECTORS - first);
        context
            .workers()
            .forEach(
                0,
                count,
                () -> {
                  byte[] image = new byte[dims];
                  return i -> {
                    deform(from + i, image);
                    MemorySegment.copy(
                        image, 0, buffer, ValueLayout.JAVA_BYTE, (long) i * dims, dims);
                  };
                },
                AbortCheck.NEVER);
        driver.copyToDevice(
            address + (long) from * dims, buffer.asSlice(0, (long) count * dims), stream);
        driver.synchronize(stream);
      }
    } finally {
      driver.destroyStream(stream);
      pinned.free();
    }
  }

  /** Makes image {@code number} of the set, the same in every run. */
  private void deform(int number, byte[] target) {
    SplittableRandom random = new SplittableRandom(number);
    byte[] image = images[number % images.length];
    int right = random.nextInt(2 * MOVED + 1) - MOVED;
    int down = random.nextInt(2 * MOVED + 1) - MOVED;
    long noise = 0;
    for (int y = 0; y < SIDE; y++) {
      for (int x = 0; x < SIDE; x++) {
        noise = x % 16 == 0 ? random.nextLong() : noise >>> 4;
        int fromX = x - right;
        int fromY = y - down;
        boolean inside = fromX >= 0 && fromX < SIDE && fromY >= 0 && fromY < SIDE;
        int value = inside ? image[fromY * SIDE + fromX] & 0xFF : 0;
        int deformed = value == 0 ? 0 : value + (int) (noise & (NOISE - 1)) - NOISE / 2;
        target[y * SIDE + x] = (byte) Math.max(0, Math.min(255, deformed));
      }
    }
  }

  private void cluster(TrainingDevice device, DeviceRows rows, int k, double paperSeconds)
      throws IOException {
    double[] seconds = new double[ROUNDS];
    WholeClusters.Result first = null;
    for (int round = 0; round < ROUNDS; round++) {
      long start = System.nanoTime();
      WholeClusters.Result result =
          WholeClusters.cluster(device, rows, k, ITERATIONS, 0, 2 * k, 42);
      seconds[round] = (System.nanoTime() - start) * 1e-9;
      if (first == null) {
        first = result;
      } else if (Arrays.equals(first.centroids(), result.centroids()) == false) {
        throw new IllegalStateException("the same seed gave other centroids");
      }
    }
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("what", "k-means");
    row.put("set", "deformed mnist");
    row.put("variant", k + " centroids, " + first.iterations() + " iterations");
    row.put("vectors", rows.count());
    row.put("dims", rows.dims());
    row.put("centroids", k);
    row.put("gpu_ms", Samples.round(1e3 * Samples.median(seconds), 1));
    row.put("error_gpu", first.error() / rows.count());
    row.put("paper_s", paperSeconds);
    TrainingStage.add(context, row);
  }
}
