package dev.vamana.cuda.question;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakFilters;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.kernel.HostKernels;
import dev.vamana.cuda.kernel.HostLibrary;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.Tuning;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.QuickPatchThreadsFilter;

/** The questions themselves: who is asked, and which wrong answers are found. */
@ThreadLeakFilters(
    defaultFilters = true,
    filters = {QuickPatchThreadsFilter.class, HostLibrary.CleanerThread.class})
public class KnownQuestionsTests extends LuceneTestCase {

  private static final long DEVICE_BYTES = 256L << 20;

  private static KnownQuestions.Answers ask(SimulatedKernels kernels) {
    try (SimulatedDriver driver =
        new SimulatedDriver(kernels, DEVICE_BYTES, random().nextBoolean())) {
      return new KnownQuestions().ask(driver);
    }
  }

  public void testTheDeviceAnswersRight() {
    HostKernels kernels = HostKernels.load();
    Set<String> asked = new ConcurrentSkipListSet<>();
    long start = System.nanoTime();
    KnownQuestions.Answers answers =
        ask(
            name -> {
              SimulatedKernels.Body body = kernels.find(name);
              return (blocks, threads, sharedBytes, parameters) -> {
                asked.add(name);
                body.run(blocks, threads, sharedBytes, parameters);
              };
            });
    System.err.println(answers + " " + (System.nanoTime() - start) / 1e6 + " ms " + asked);
    assertEquals(0, answers.skipped());
    Set<String> walks = new TreeSet<>();
    for (Policy policy : Policy.values()) {
      Tuning.WARPS.forEach(warps -> walks.add(policy.kernelName(warps)));
    }
    assertTrue(asked.toString(), asked.containsAll(walks));
  }
}
