package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Measures the device's limits: bandwidth of copies and of gathered rows from device memory, pinned
 * memory and a mapped file, and latency of dependent reads. docs/internals/gpu-suite.md derives the
 * roofline from them.
 */
final class CeilingStage implements Stage {

  private static final long DEVICE_BYTES = 4L << 30;
  private static final long HOST_BYTES = 1L << 30;
  private static final int ROUNDS = 7;
  private static final int THREADS = 256;

  /** Size of vamana::Probe. */
  private static final long PROBE_BYTES = 40;

  /** Memory from which rows are read. */
  private record Source(String name, long address, long bytes) {}

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    try (CudaDriver driver = Gpu.openDriver();
        Arena arena = Arena.ofShared()) {
      driver.bind();
      Path file = file(context.options().home().resolve("tmp").resolve("ceiling.bin"));
      CudaDriver.PinnedMemory pinned = driver.allocatePinned(HOST_BYTES);
      long device = driver.allocate(DEVICE_BYTES);
      long target = driver.allocate(DEVICE_BYTES / 2);
      long stream = driver.createStream();
      try (FileChannel channel = FileChannel.open(file, StandardOpenOption.READ)) {
        fillRandom(pinned.segment());
        for (long at = 0; at < DEVICE_BYTES; at += HOST_BYTES) {
          driver.copyToDevice(device + at, pinned.segment(), stream);
        }
        driver.synchronize(stream);
        MemorySegment mapped = channel.map(FileChannel.MapMode.READ_ONLY, 0, HOST_BYTES, arena);
        mapped.load();
        long before = System.nanoTime();
        CudaDriver.Registration registration = driver.register(mapped.address(), HOST_BYTES);
        add(context, "register a mapped file", "GiB/s", 1e9 / (System.nanoTime() - before));
        Probes probes = new Probes(driver, stream, target, arena);
        copies(context, driver, probes, pinned, device);
        for (Source source :
            new Source[] {
              new Source("device", device, DEVICE_BYTES),
              new Source("pinned", pinned.deviceAddress(), HOST_BYTES),
              new Source("mapped file", registration.deviceAddress(), HOST_BYTES)
            }) {
          reads(context, probes, source);
        }
        registration.release();
      } finally {
        driver.destroyStream(stream);
        driver.free(target);
        driver.free(device);
        pinned.free();
        Files.deleteIfExists(file);
      }
    }
  }

  private static void copies(
      Context context,
      CudaDriver driver,
      Probes probes,
      CudaDriver.PinnedMemory pinned,
      long device)
      throws IOException {
    long half = DEVICE_BYTES / 2;
    double seconds =
        probes.seconds("probe_copy", new Source("device", device, half), 256, 0, 0, 4_096);
    add(context, "copy on the device, read and written", "GB/s", 2 * half / seconds * 1e-9);
    for (long bytes : new long[] {4L << 10, 1L << 20, 1L << 30}) {
      MemorySegment host = pinned.segment().asSlice(0, bytes);
      add(
          context,
          "copy to the device, " + bytes + " bytes",
          "GB/s",
          bytes
              / probes.median(
                  () -> {
                    driver.copyToDevice(device, host, probes.stream);
                    driver.synchronize(probes.stream);
                  })
              * 1e-9);
      add(
          context,
          "copy from the device, " + bytes + " bytes",
          "GB/s",
          bytes
              / probes.median(
                  () -> {
                    driver.copyFromDevice(host, device, probes.stream);
                    driver.synchronize(probes.stream);
                  })
              * 1e-9);
    }
    add(
        context,
        "launch and wait",
        "us",
        1e6 * probes.seconds("probe_gather", new Source("device", device, 256), 256, 1, 0, 1));
  }

  private static void reads(Context context, Probes probes, Source source) throws IOException {
    boolean device = source.name().equals("device");
    for (int rowBytes : new int[] {32, 64, 128, 256, 512}) {
      int reads = device ? 1 << 26 : 1 << 21;
      double seconds = probes.seconds("probe_gather", source, rowBytes, reads, 0, 132 * 16);
      add(
          context,
          "gather rows of " + rowBytes + " bytes, " + source.name(),
          "GB/s",
          (double) reads * rowBytes / seconds * 1e-9);
    }
    for (int chains : new int[] {1, 256, 10_000}) {
      int hops = device ? 2_000 : 200;
      int blocks = Math.max(1, (chains * 16 + THREADS - 1) / THREADS);
      double seconds = probes.seconds("probe_chase", source, 256, chains, hops, blocks);
      add(
          context,
          "dependent reads of 256 bytes, " + chains + " chains, " + source.name(),
          "us",
          seconds / hops * 1e6);
    }
  }

  private static void add(Context context, String what, String unit, double value)
      throws IOException {
    Map<String, Object> row = new LinkedHashMap<>();
    row.put("what", what);
    row.put("value", Samples.round(value, 3));
    row.put("unit", unit);
    context.fragment().add("ceilings", row);
    context.say("%-60s %,12.2f %s", what, value, unit);
  }

  private static Path file(Path file) throws IOException {
    Files.createDirectories(file.getParent());
    ByteBuffer block = ByteBuffer.allocate(16 << 20);
    SplittableRandom random = new SplittableRandom(1);
    while (block.remaining() >= Long.BYTES) {
      block.putLong(random.nextLong());
    }
    try (FileChannel channel =
        FileChannel.open(
            file,
            StandardOpenOption.CREATE,
            StandardOpenOption.TRUNCATE_EXISTING,
            StandardOpenOption.WRITE)) {
      for (long written = 0; written < HOST_BYTES; written += block.capacity()) {
        block.rewind();
        while (block.hasRemaining()) {
          channel.write(block);
        }
      }
    }
    return file;
  }

  private static void fillRandom(MemorySegment segment) {
    SplittableRandom random = new SplittableRandom(2);
    for (long at = 0; at < segment.byteSize(); at += Long.BYTES) {
      segment.set(ValueLayout.JAVA_LONG_UNALIGNED, at, random.nextLong());
    }
  }

  /** Launches probes and returns median times. */
  private static final class Probes {
    private final CudaDriver driver;
    private final long stream;
    private final long target;
    private final MemorySegment parameters;

    Probes(CudaDriver driver, long stream, long target, Arena arena) {
      this.driver = driver;
      this.stream = stream;
      this.target = target;
      this.parameters = arena.allocate(PROBE_BYTES, 8);
    }

    double seconds(String kernel, Source source, int rowBytes, int chains, int hops, int blocks) {
      CudaDriver.Kernel found = driver.kernel(kernel);
      parameters.set(ValueLayout.JAVA_LONG, 0, source.address());
      parameters.set(ValueLayout.JAVA_LONG, 8, target);
      parameters.set(ValueLayout.JAVA_INT, 16, (int) Math.max(1, source.bytes() / rowBytes));
      parameters.set(ValueLayout.JAVA_INT, 20, rowBytes);
      parameters.set(ValueLayout.JAVA_INT, 24, chains);
      parameters.set(ValueLayout.JAVA_INT, 28, hops);
      return median(
          () -> {
            // other rows each time, so that caches do not hold them
            parameters.set(ValueLayout.JAVA_INT, 32, (int) System.nanoTime());
            driver.launch(found, blocks, THREADS, 0, parameters, stream);
            driver.synchronize(stream);
          });
    }

    double median(Runnable work) {
      work.run();
      double[] seconds = new double[ROUNDS];
      for (int i = 0; i < ROUNDS; i++) {
        long start = System.nanoTime();
        work.run();
        seconds[i] = (System.nanoTime() - start) * 1e-9;
      }
      return Samples.median(seconds);
    }
  }
}
