package dev.vamana.tools.gpu;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.kernel.WalkLayout;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.Test;

public class WalkProfileTests {

  private static final int STAGES = WalkProfile.STAGES.size();

  /** A walk that takes one cycle in its first stage, two in the second, and so on. */
  private static final SimulatedKernels KERNELS =
      name ->
          switch (name) {
            case "walk_exact_f32_w4", "exact_join" -> (blocks, threads, shared, walk) -> {};
            case "profile_exact_f32_w4" ->
                (blocks, threads, shared, walk) -> {
                  assertEquals(0, at(walk, WalkLayout.COUNTER, 4).get(ValueLayout.JAVA_INT, 0));
                  MemorySegment sums = at(walk, WalkLayout.SCRATCH, STAGES * 8L);
                  for (int i = 0; i < STAGES; i++) {
                    long before = sums.getAtIndex(ValueLayout.JAVA_LONG, i);
                    sums.setAtIndex(ValueLayout.JAVA_LONG, i, before + i + 1);
                  }
                };
            default -> null;
          };

  private static MemorySegment at(MemorySegment walk, long field, long bytes) {
    return MemorySegment.ofAddress(walk.get(ValueLayout.JAVA_LONG, field)).reinterpret(bytes);
  }

  @Test
  public void addsUpTheCyclesOfAllLaunches() {
    try (SimulatedDriver driver = new SimulatedDriver(KERNELS, 1 << 20, false);
        Arena arena = Arena.ofConfined()) {
      driver.bind();
      long stream = driver.createStream();
      long counter = driver.allocate(4);
      driver.fill(counter, (byte) 1, 4, stream);
      MemorySegment walk = arena.allocate(WalkLayout.BYTES, 8);
      walk.set(ValueLayout.JAVA_LONG, WalkLayout.COUNTER, counter);
      CapturingDriver capturing = new CapturingDriver(driver);
      capturing.capture();
      for (int i = 0; i < 3; i++) {
        capturing.launch(driver.kernel("walk_exact_f32_w4"), 2, 128, 0, walk, stream);
      }
      WalkProfile profile = WalkProfile.of(capturing, capturing.captured());
      assertEquals(4, profile.warps());
      assertArrayEquals(new long[] {3, 6, 9, 12, 15, 18, 21}, profile.cycles());
      Map<String, Object> row = new LinkedHashMap<>();
      profile.addTo(row);
      assertEquals(WalkProfile.STAGES, List.copyOf(row.keySet()));
      assertEquals(0.25, row.get("write"));
      driver.free(counter);
      driver.destroyStream(stream);
    }
  }

  @Test
  public void refusesWhatIsNoWalk() {
    try (SimulatedDriver driver = new SimulatedDriver(KERNELS, 1 << 20, false);
        Arena arena = Arena.ofConfined()) {
      driver.bind();
      MemorySegment walk = arena.allocate(WalkLayout.BYTES, 8);
      CapturingDriver.Launch launch =
          new CapturingDriver.Launch(driver.kernel("exact_join"), 1, 32, 0, walk, new long[0]);
      assertThrows(IllegalArgumentException.class, () -> WalkProfile.of(driver, List.of(launch)));
    }
  }
}
