package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.memory.ResidencyOptions;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.TimeUnit;

/** Which kernels the self-test runs, and that it finds kernels that do nothing. */
public class SelfTestTests extends GpuTestCase {

  private static final int KERNELS_OF_A_RUN = 2;

  /**
   * Kernels without which answers may be right as well, or the next kernel reads what nobody wrote.
   */
  private static final Set<String> HELPERS = Set.of("convert_range");

  private static GpuExecutor open(SimulatedKernels some) {
    return GpuExecutor.open(
        () -> new SimulatedDriver(some, DEVICE_BYTES, random().nextBoolean()),
        ResidencyOptions.defaults(1L << 30),
        GpuOptions.DEFAULT
            .withBatches(BATCHES)
            .withTimes(times -> times.retry(TimeUnit.HOURS.toNanos(1), TimeUnit.HOURS.toNanos(1))),
        new QuietListener());
  }

  private static Set<String> launched() throws InterruptedException {
    Set<String> launched = new ConcurrentSkipListSet<>();
    try (GpuExecutor executor =
        open(
            name -> {
              SimulatedKernels.Body body = kernels.find(name);
              return (blocks, threads, sharedBytes, parameters) -> {
                launched.add(name);
                body.run(blocks, threads, sharedBytes, parameters);
              };
            })) {
      await(() -> executor.statistics().usable());
      assertEquals(1, executor.statistics().counter("contexts", "questioned"));
      assertEquals(0, executor.statistics().counter("contexts", "questions_left_out"));
    }
    return launched;
  }

  public void testKernels() throws Exception {
    assumeTrue("needs kernels of the host", kernels != null);
    Set<String> launched = launched();
    List<String> families = new ArrayList<>(List.of("exact_few_float", "list_search_float_"));
    families.add("convert_");
    for (Policy policy : List.of(Policy.EXACT_F32, Policy.EXACT_F16, Policy.EXACT_BYTE)) {
      families.add(policy.kernelName(1).replaceAll("_w1$", "_w"));
    }
    families.add("walk_table");
    for (String family : families) {
      assertTrue(
          family + " of " + launched, launched.stream().anyMatch(name -> name.startsWith(family)));
    }
    List<String> some = new ArrayList<>(launched);
    some.removeIf(name -> HELPERS.stream().anyMatch(name::startsWith));
    Collections.shuffle(some, random());
    if (TEST_NIGHTLY == false) {
      some = some.subList(0, KERNELS_OF_A_RUN);
    }
    List<String> unnoticed = new ArrayList<>();
    for (String lame : some) {
      SimulatedKernels others =
          name ->
              name.equals(lame)
                  ? (blocks, threads, sharedBytes, parameters) -> {}
                  : kernels.find(name);
      try (GpuExecutor executor = open(others)) {
        await(
            () ->
                executor.statistics().usable()
                    || executor.statistics().counter("contexts", "lost") > 0);
        if (executor.statistics().counter("contexts", "wrong_answers") == 0) {
          unnoticed.add(lame);
        }
      }
    }
    assertEquals(some + " of " + launched, List.of(), unnoticed);
  }
}
