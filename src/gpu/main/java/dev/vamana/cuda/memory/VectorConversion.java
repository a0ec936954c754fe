package dev.vamana.cuda.memory;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.kernel.BuildLayouts.ConvertLayout;
import dev.vamana.cuda.kernel.BuildLayouts.RangeLayout;
import dev.vamana.cuda.kernel.BuildLayouts.RangeResultLayout;
import dev.vamana.vectors.ArrayCopy;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;

/**
 * Converts a segment's float vectors to half precision or bytes, on the device. {@link
 * SegmentUpload} uses it.
 */
final class VectorConversion {

  private static final String RANGE_KERNEL = "convert_range";
  private static final String FLOAT16_KERNEL = "convert_float16";
  private static final String BYTE_KERNEL = "convert_byte";
  // the largest half-precision value; all values below 65,520 round to it
  private static final float MAX_HALF = 65_504;
  private static final int THREADS = 256;
  private static final int BLOCKS_PER_MULTIPROCESSOR = 8;

  private final CudaDriver driver;
  private final PlacementPlan plan;
  private final long block;

  /** Float rows that the device can read. */
  interface Rows {
    /** Passes all rows in ascending order, several at a time. */
    void forEach(Slice slice) throws IOException;
  }

  /** Receives some of the rows. */
  @FunctionalInterface
  interface Slice {
    /**
     * Starts work on rows.
     *
     * @param source device address of the first row
     * @param stride bytes between rows
     * @param first ordinal of the first row
     * @param count number of rows
     * @param stream stream for the work
     */
    void accept(long source, int stride, long first, long count, long stream);
  }

  /**
   * Makes a conversion.
   *
   * @param plan a plan with converted copies
   * @param block device address of the plan's block
   */
  VectorConversion(CudaDriver driver, PlacementPlan plan, long block) {
    this.driver = driver;
    this.plan = plan;
    this.block = block;
  }

  /**
   * Converts all rows to half precision.
   *
   * @throws GpuException with {@link GpuException.Kind#NOT_SUPPORTED} if halves cannot represent
   *     them
   */
  void toHalves(BounceBuffers buffers, Rows rows) throws IOException {
    clearResult(buffers);
    CudaDriver.Kernel ranger = driver.kernel(RANGE_KERNEL);
    CudaDriver.Kernel converter = driver.kernel(FLOAT16_KERNEL);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment parameters = arena.allocate(ConvertLayout.BYTES, Long.BYTES);
      rows.forEach(
          (source, stride, first, count, stream) -> {
            range(ranger, parameters, source, stride, count, stream);
            convert(converter, parameters, source, stride, first, count, stream);
          });
    }
    MemorySegment result = result(buffers);
    float lowest =
        RangeResultLayout.unsortable(~result.get(ValueLayout.JAVA_INT, RangeResultLayout.LOWEST));
    float highest =
        RangeResultLayout.unsortable(result.get(ValueLayout.JAVA_INT, RangeResultLayout.HIGHEST));
    if (fitsHalf(lowest, highest, finite(result)) == false) {
      throw refused("components from " + lowest + " to " + highest);
    }
  }

  /**
   * Converts all rows to bytes.
   *
   * @param center floats from which copies hold the differences; the device gets them here
   * @param unit whether rows are made of length 1 first
   * @return whether the copies are the rows, and nothing was rounded
   * @throws GpuException with {@link GpuException.Kind#NOT_SUPPORTED} if a component, or its
   *     difference from the center, is not finite
   */
  boolean toBytes(BounceBuffers buffers, Rows rows, float[] center, boolean unit)
      throws IOException {
    clearResult(buffers);
    BounceBuffers.Buffer buffer = buffers.next();
    MemorySegment bytes = buffer.memory().asSlice(0, (long) center.length * Float.BYTES);
    ArrayCopy.toMemory(center, 0, bytes, 0, center.length);
    driver.copyToDevice(block + plan.center(), bytes, buffer.stream());
    buffers.finish();
    CudaDriver.Kernel converter = driver.kernel(BYTE_KERNEL);
    try (Arena arena = Arena.ofConfined()) {
      MemorySegment parameters = arena.allocate(ConvertLayout.BYTES, Long.BYTES);
      parameters.set(ValueLayout.JAVA_INT, ConvertLayout.UNIT, unit ? 1 : 0);
      parameters.set(ValueLayout.JAVA_LONG, ConvertLayout.CENTER, block + plan.center());
      parameters.set(ValueLayout.JAVA_LONG, ConvertLayout.RESULT, block + PlacementPlan.RANGE);
      rows.forEach(
          (source, stride, first, count, stream) -> {
            long facts = block + plan.facts() + first * PlacementPlan.FACT_BYTES;
            parameters.set(ValueLayout.JAVA_LONG, ConvertLayout.FACTS, facts);
            convert(converter, parameters, source, stride, first, count, stream);
          });
    }
    MemorySegment result = result(buffers);
    if (finite(result) == false) {
      throw refused("components that are not finite");
    }
    int flags = result.get(ValueLayout.JAVA_INT, RangeResultLayout.FLAGS);
    return (flags & RangeResultLayout.FLAG_ROUNDED) == 0;
  }

  /** Whether all components can be converted to half precision. */
  static boolean fitsHalf(float lowest, float highest, boolean finite) {
    return finite && lowest >= -MAX_HALF && highest <= MAX_HALF;
  }

  /** Whether a kernel has found finite components only. */
  private static boolean finite(MemorySegment result) {
    int flags = result.get(ValueLayout.JAVA_INT, RangeResultLayout.FLAGS);
    return (flags & RangeResultLayout.FLAG_NOT_FINITE) == 0;
  }

  private GpuException refused(String what) {
    return new GpuException(
        GpuException.Kind.NOT_SUPPORTED, what + " do not fit " + plan.placement().settingName());
  }

  private void clearResult(BounceBuffers buffers) {
    driver.fill(
        block + PlacementPlan.RANGE, (byte) 0, RangeResultLayout.BYTES, buffers.next().stream());
    buffers.finish();
  }

  private void range(
      CudaDriver.Kernel kernel,
      MemorySegment parameters,
      long source,
      int stride,
      long count,
      long stream) {
    parameters.set(ValueLayout.JAVA_LONG, RangeLayout.SOURCE, source);
    parameters.set(ValueLayout.JAVA_LONG, RangeLayout.RESULT, block + PlacementPlan.RANGE);
    parameters.set(ValueLayout.JAVA_LONG, RangeLayout.ROWS, count);
    parameters.set(ValueLayout.JAVA_INT, RangeLayout.DIMENSION, plan.shape().dimension());
    parameters.set(ValueLayout.JAVA_INT, RangeLayout.SOURCE_STRIDE, stride);
    launch(kernel, parameters.asSlice(0, RangeLayout.BYTES), stream);
  }

  private void convert(
      CudaDriver.Kernel kernel,
      MemorySegment parameters,
      long source,
      int stride,
      long first,
      long count,
      long stream) {
    long target = block + plan.vectors() + first * plan.vectorStride();
    parameters.set(ValueLayout.JAVA_LONG, ConvertLayout.SOURCE, source);
    parameters.set(ValueLayout.JAVA_LONG, ConvertLayout.TARGET, target);
    parameters.set(ValueLayout.JAVA_LONG, ConvertLayout.ROWS, count);
    parameters.set(ValueLayout.JAVA_INT, ConvertLayout.DIMENSION, plan.shape().dimension());
    parameters.set(ValueLayout.JAVA_INT, ConvertLayout.SOURCE_STRIDE, stride);
    parameters.set(ValueLayout.JAVA_INT, ConvertLayout.TARGET_STRIDE, plan.vectorStride());
    launch(kernel, parameters, stream);
  }

  private void launch(CudaDriver.Kernel kernel, MemorySegment parameters, long stream) {
    int blocks = driver.device().multiprocessors() * BLOCKS_PER_MULTIPROCESSOR;
    driver.launch(kernel, blocks, THREADS, 0, parameters, stream);
  }

  /** Waits for the conversion and returns what it found out. */
  private MemorySegment result(BounceBuffers buffers) {
    buffers.finish();
    BounceBuffers.Buffer buffer = buffers.next();
    MemorySegment result = buffer.memory().asSlice(0, RangeResultLayout.BYTES);
    driver.copyFromDevice(result, block + PlacementPlan.RANGE, buffer.stream());
    buffers.finish();
    return result;
  }
}
