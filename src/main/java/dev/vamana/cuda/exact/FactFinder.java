package dev.vamana.cuda.exact;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.ScanLayouts.ExactFactsLayout;
import dev.vamana.cuda.kernel.ScanLayouts.ExactScanLayout;
import dev.vamana.cuda.memory.DeviceBuffer;
import dev.vamana.cuda.memory.DriverObjects;
import dev.vamana.cuda.memory.PinnedBuffer;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/** Computes {@link RowFacts} of float vectors on the device. */
final class FactFinder {

  private static final int THREADS = 256;
  private static final int BLOCKS_PER_MULTIPROCESSOR = 8;

  private final CudaDriver driver;
  private final DeviceBuffer device;
  private final PinnedBuffer pinned;
  private final ScanParameters parameters = new ScanParameters();

  FactFinder(DriverObjects objects) {
    driver = objects.driver();
    device = objects.device();
    pinned = objects.pinned();
  }

  /** Launches the kernel in the stream and waits for the result. */
  RowFacts find(long address, int stride, int count, int dimension, long stream) {
    pinned.ensure(ExactFactsLayout.BYTES);
    long facts = device.ensure(ExactFactsLayout.BYTES);
    driver.fill(facts, (byte) 0, ExactFactsLayout.BYTES, stream);
    parameters
        .clear()
        .address(ExactScanLayout.ROWS, address)
        .address(ExactScanLayout.FACTS, facts)
        .number(ExactScanLayout.ROW_STRIDE, stride)
        .number(ExactScanLayout.SIZE, count)
        .number(ExactScanLayout.DIMENSION, dimension);
    int blocks = driver.device().multiprocessors() * BLOCKS_PER_MULTIPROCESSOR;
    driver.launch(driver.kernel("exact_facts"), blocks, THREADS, 0, parameters.block(), stream);
    MemorySegment target = pinned.segment().asSlice(0, ExactFactsLayout.BYTES);
    driver.copyFromDevice(target, facts, stream);
    driver.synchronize(stream);
    return new RowFacts(
        target.get(ValueLayout.JAVA_FLOAT, ExactFactsLayout.LARGEST_NORM),
        target.get(ValueLayout.JAVA_INT, ExactFactsLayout.FLAGS));
  }
}
