package dev.vamana.tools.gpu;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.kernel.WalkLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * Shares of a walk's time by stage. Repeats launches with kernels that sum the cycles of each stage
 * over all blocks (native-kernels/src/walk_profile.cu).
 *
 * @param cycles cycles of each stage, in the order of {@link #STAGES}
 * @param warps warps of a block
 */
record WalkProfile(long[] cycles, int warps) {

  /** {@code Stage} of native-kernels/src/walk/state.cuh. */
  static final List<String> STAGES =
      List.of("prepare", "pick", "rows", "distances", "merge", "rerank", "write");

  private static final String WALK = "walk_";
  private static final int WARP = 32;

  /** Repeats launches whose items are still in place. Nothing else may use the device. */
  static WalkProfile of(CudaDriver driver, List<CapturingDriver.Launch> launches) {
    int bytes = STAGES.size() * Long.BYTES;
    driver.bind();
    long stream = driver.createStream();
    long sums = 0;
    try (Arena arena = Arena.ofConfined()) {
      sums = driver.allocate(bytes);
      driver.fill(sums, (byte) 0, bytes, stream);
      for (CapturingDriver.Launch launch : launches) {
        again(driver, launch, sums, stream);
      }
      MemorySegment found = arena.allocate(bytes, Long.BYTES);
      driver.copyFromDevice(found, sums, stream);
      driver.synchronize(stream);
      return new WalkProfile(
          found.toArray(ValueLayout.JAVA_LONG), launches.get(0).threads() / WARP);
    } finally {
      if (sums != 0) {
        driver.free(sums);
      }
      driver.destroyStream(stream);
    }
  }

  private static void again(
      CudaDriver driver, CapturingDriver.Launch launch, long sums, long stream) {
    String name = launch.kernel().name();
    MemorySegment parameters = launch.parameters();
    if (name.startsWith(WALK) == false
        || parameters.get(ValueLayout.JAVA_LONG, WalkLayout.SCRATCH_STRIDE) != 0) {
      throw new IllegalArgumentException(name + " cannot be profiled with these parameters");
    }
    // blocks take items by this counter, which the first launch has incremented
    driver.fill(
        parameters.get(ValueLayout.JAVA_LONG, WalkLayout.COUNTER), (byte) 0, Integer.BYTES, stream);
    parameters.set(ValueLayout.JAVA_LONG, WalkLayout.SCRATCH, sums);
    driver.launch(
        driver.kernel("profile_" + name.substring(WALK.length())),
        launch.blocks(),
        launch.threads(),
        launch.sharedBytes(),
        parameters,
        stream);
  }

  /** Adds each stage's share of all cycles, from 0 to 1. */
  void addTo(Map<String, Object> row) {
    double all = Math.max(1, Arrays.stream(cycles).sum());
    for (int i = 0; i < cycles.length; i++) {
      row.put(STAGES.get(i), Samples.round(cycles[i] / all, 4));
    }
  }
}
