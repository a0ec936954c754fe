package dev.vamana.cuda.question;

import com.carrotsearch.randomizedtesting.annotations.ThreadLeakFilters;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.driver.SimulatedKernels;
import dev.vamana.cuda.kernel.HostKernels;
import dev.vamana.cuda.kernel.HostLibrary;
import dev.vamana.cuda.kernel.Policy;
import dev.vamana.cuda.kernel.Tuning;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentSkipListSet;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.QuickPatchThreadsFilter;

/** The questions themselves: who is asked, and which wrong answers are found. */
@ThreadLeakFilters(
    defaultFilters = true,
    filters = {QuickPatchThreadsFilter.class, HostLibrary.CleanerThread.class})
public class KnownQuestionsTests extends LuceneTestCase {

  private static final long DEVICE_BYTES = 256L << 20;
  private static final long MOST_PINNED = 32L << 20;
  private static final long MOST_MEMORY = 64L << 20;
  private static final int KERNELS_OF_A_RUN = 2;

  /** A kernel that is asked, by module; walks are added. */
  private static final Map<String, String> MODULES =
      Map.ofEntries(
          Map.entry("build_choose", "build_choose_w4"),
          Map.entry("build_edges", "build_scatter"),
          Map.entry("build_items", "build_items"),
          Map.entry("build_merge", "build_append"),
          Map.entry("build_reach", "build_reach"),
          Map.entry("convert", "convert_byte"),
          Map.entry("exact_scan_candidates", "exact_finish_float"),
          Map.entry("exact_scan_convert", "exact_rows"),
          Map.entry("exact_scan_few", "exact_few_float_q1"),
          Map.entry("exact_scan_products", "exact_products_half"),
          Map.entry("exact_scan_select", "exact_found"),
          Map.entry("host_fetch", "host_fetch_rerank"),
          Map.entry("kmeans_assign", "kmeans_assign_tile"),
          Map.entry("kmeans_seed", "kmeans_seed_8"),
          Map.entry("kmeans_seed_long", "kmeans_draw"),
          Map.entry("kmeans_update", "kmeans_move"),
          Map.entry("list_batch", "list_batch_score_float"),
          Map.entry("list_search", "list_search_float_w4"),
          Map.entry("list_search_global", "list_search_float_global_w4"),
          Map.entry("list_search_table", "list_search_float_table_w4"),
          Map.entry("select_bits", "select_bits_1024"),
          Map.entry("select_large", "select_radix"),
          Map.entry("select_sort", "select_sort_4096"));

  /** Modules that no node uses. */
  private static final Set<String> UNUSED = Set.of("probe");

  /**
   * Kernels without which answers are right as well, or without which the next kernel reads memory
   * that nobody has written.
   */
  private static final Set<String> HELPERS =
      Set.of(
          "build_append",
          "build_count",
          "build_items",
          "build_merge",
          "build_place",
          "build_reach",
          "build_scatter",
          "convert_range",
          "exact_facts",
          "exact_narrow",
          "host_fetch",
          "kmeans",
          "list_batch",
          "select_sample_finish",
          "select_sample_splitters");

  /** Round by round: right answers, little memory, and nothing left behind. */
  public void testEveryRound() {
    HostKernels kernels = HostKernels.load();
    AtomicReference<SimulatedDriver> device = new AtomicReference<>();
    AtomicLong pinned = new AtomicLong();
    AtomicLong memory = new AtomicLong();
    SimulatedKernels watched =
        name -> {
          SimulatedKernels.Body body = kernels.find(name);
          return (blocks, threads, sharedBytes, parameters) -> {
            pinned.accumulateAndGet(device.get().pinnedBytes(), Math::max);
            memory.accumulateAndGet(device.get().deviceBytes(), Math::max);
            body.run(blocks, threads, sharedBytes, parameters);
          };
        };
    try (SimulatedDriver driver = new SimulatedDriver(watched, DEVICE_BYTES, true)) {
      device.set(driver);
      KnownQuestions questions = new KnownQuestions();
      for (int round = 0; round < KnownQuestions.ROUNDS; round++) {
        assertEquals(0, questions.ask(driver).skipped());
        assertEquals(List.of(), driver.leftovers());
      }
    }
    assertTrue(pinned + " bytes pinned", pinned.get() <= MOST_PINNED);
    assertTrue(memory + " bytes on the device", memory.get() <= MOST_MEMORY);
  }

  private static KnownQuestions.Answers ask(SimulatedKernels kernels) {
    try (SimulatedDriver driver =
        new SimulatedDriver(kernels, DEVICE_BYTES, random().nextBoolean())) {
      KnownQuestions questions = new KnownQuestions();
      for (int round = random().nextInt(KnownQuestions.ROUNDS); round > 0; round--) {
        questions.skip();
      }
      return questions.ask(driver);
    }
  }

  /** Returns the names of the kernels that are launched. */
  private static Set<String> asked(HostKernels kernels) {
    Set<String> asked = new ConcurrentSkipListSet<>();
    KnownQuestions.Answers answers =
        ask(
            name -> {
              SimulatedKernels.Body body = kernels.find(name);
              return (blocks, threads, sharedBytes, parameters) -> {
                asked.add(name);
                body.run(blocks, threads, sharedBytes, parameters);
              };
            });
    assertEquals(0, answers.skipped());
    assertTrue(answers.toString(), answers.asked() > asked.size() / 2);
    return asked;
  }

  /** A module that is new needs a question, and a row here. */
  public void testEveryModuleIsAsked() throws IOException {
    Map<String, String> kernelOfModule = new TreeMap<>(MODULES);
    for (Policy policy : Policy.values()) {
      String name = policy.kernelName(1);
      kernelOfModule.put(name.substring(0, name.lastIndexOf('_')), name);
    }
    try (Stream<Path> sources = Files.list(Path.of("native-kernels", "src"))) {
      Set<String> modules =
          sources
              .map(source -> source.getFileName().toString())
              .filter(name -> name.endsWith(".cu"))
              .map(name -> name.substring(0, name.length() - 3))
              .collect(Collectors.toCollection(TreeSet::new));
      modules.removeAll(UNUSED);
      assertEquals(modules, kernelOfModule.keySet());
    }
    Set<String> asked = asked(HostKernels.load());
    assertTrue(asked.toString(), asked.containsAll(kernelOfModule.values()));
    for (Policy policy : Policy.values()) {
      for (int warps : Tuning.WARPS) {
        assertTrue(asked.toString(), asked.contains(policy.kernelName(warps)));
      }
    }
  }

  /** A kernel that does nothing leaves what was in memory. */
  public void testWrongAnswersAreFound() {
    HostKernels kernels = HostKernels.load();
    List<String> some = new ArrayList<>(asked(kernels));
    some.removeIf(name -> HELPERS.stream().anyMatch(name::startsWith));
    if (TEST_NIGHTLY == false) {
      Collections.shuffle(some, random());
      some = some.subList(0, KERNELS_OF_A_RUN);
    }
    List<String> unnoticed = new ArrayList<>();
    for (String lame : some) {
      try {
        ask(
            name ->
                name.equals(lame)
                    ? (blocks, threads, sharedBytes, parameters) -> {}
                    : kernels.find(name));
        unnoticed.add(lame);
      } catch (WrongAnswerException e) {
        assertTrue(e.getMessage(), e.getMessage().startsWith("the device answers wrong: "));
      }
    }
    assertEquals(List.of(), unnoticed);
  }
}
