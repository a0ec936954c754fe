package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.monitor.DamagedFiles;
import dev.vamana.elasticsearch.monitor.Trouble;
import dev.vamana.elasticsearch.monitor.Trouble.Kind;
import dev.vamana.elasticsearch.monitor.recall.Tally;
import dev.vamana.elasticsearch.monitor.segments.LeftoverSegments;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.health.HealthIndicatorDetails;
import org.elasticsearch.health.HealthIndicatorResult;
import org.elasticsearch.health.HealthStatus;
import org.junit.BeforeClass;

public class VamanaHealthTests extends LuceneTestCase {

  @BeforeClass
  public static void readyServer() {
    ServerClasses.ready();
  }

  private static final Map<String, Object> NO_RECALL = Map.of("searches", List.of());

  private final AtomicLong clock = new AtomicLong();
  private final NodeHealth health =
      new NodeHealth(new DamagedFiles(Runnable::run), new LeftoverSegments(List.of()), clock::get);

  private static GpuStats gpu(GpuStats.State state, String reason, long misses) {
    SortedMap<String, SortedMap<String, Long>> counters = new TreeMap<>();
    counters.put(
        "residency", new TreeMap<>(Map.of("misses_over_budget", misses, "segments_exact", 1L)));
    return new GpuStats("auto", state, reason, counters);
  }

  private List<Kind> kinds(GpuStats gpu, Map<String, Object> recall) {
    return health.troubles(gpu, recall).stream().map(Trouble::kind).toList();
  }

  public void testStatesOfTheGpu() {
    assertEquals(List.of(), kinds(gpu(GpuStats.State.READY, null, 0), NO_RECALL));
    assertEquals(List.of(), kinds(gpu(GpuStats.State.OFF, "it is off", 0), NO_RECALL));
    assertEquals(List.of(), kinds(gpu(GpuStats.State.TESTING, "it tests", 0), NO_RECALL));
    GpuStats lost = gpu(GpuStats.State.FAILED, "it fell off", 0);
    assertEquals(
        List.of(new Trouble(Kind.GPU_LOST, "gpu", "it fell off")),
        health.troubles(lost, NO_RECALL));
    // one of several
    assertEquals(
        List.of(Kind.GPU_LOST), kinds(gpu(GpuStats.State.READY, "device 1: gone", 0), NO_RECALL));
    assertEquals(
        List.of(Kind.GPU_UNAVAILABLE),
        kinds(gpu(GpuStats.State.UNAVAILABLE, "no driver", 0), NO_RECALL));
  }

  public void testMemoryThatIsExhaustedLately() {
    assertEquals(List.of(), kinds(gpu(GpuStats.State.READY, null, 0), NO_RECALL));
    GpuStats full = gpu(GpuStats.State.READY, null, 5);
    assertEquals(List.of(Kind.DEVICE_MEMORY), kinds(full, NO_RECALL));
    clock.addAndGet(599_999);
    assertEquals(List.of(Kind.DEVICE_MEMORY), kinds(full, NO_RECALL));
    clock.incrementAndGet();
    assertEquals(List.of(), kinds(full, NO_RECALL));
    assertEquals(List.of(Kind.DEVICE_MEMORY), kinds(gpu(GpuStats.State.READY, null, 6), NO_RECALL));
  }

  public void testRecallThatIsCertainlyLow() {
    GpuStats well = gpu(GpuStats.State.READY, null, 0);
    Map<String, Object> low = FullStatistics.search("low", 10, new Tally(300, 255, 230));
    Map<String, Object> maybe = FullStatistics.search("maybe", 10, new Tally(3, 2.5, 2.2));
    List<Trouble> troubles = health.troubles(well, Map.of("searches", List.of(low, maybe)));
    assertEquals(1, troubles.size());
    assertEquals(Kind.LOW_RECALL, troubles.get(0).kind());
    assertEquals("i/low", troubles.get(0).subject());
    assertTrue(
        troubles.get(0).message(), troubles.get(0).message().endsWith("up to 10, by 300 searches"));
  }

  private static NodeStats node(String name, Trouble... troubles) {
    return FullStatistics.node(
        name, Map.of("health", Arrays.stream(troubles).map(Trouble::members).toList()));
  }

  public void testWhatIsHarmfulMakesTheReportYellow() {
    VamanaHealth indicator = new VamanaHealth(null);
    Trouble none = new Trouble(Kind.GPU_UNAVAILABLE, "gpu", "no driver");
    HealthIndicatorResult well = indicator.of(List.of(node("a", none), node("b")), true, 10);
    assertEquals(HealthStatus.GREEN, well.status());
    assertEquals(List.of(), well.diagnosisList());
    Trouble left = new Trouble(Kind.LEFTOVER_SEGMENTS, "i", "forgotten");
    Trouble more = new Trouble(Kind.LEFTOVER_SEGMENTS, "j", "forgotten");
    Trouble lost = new Trouble(Kind.GPU_LOST, "gpu", "it fell off");
    List<NodeStats> nodes = List.of(node("a", left, more), node("b", lost), node("c", left));
    HealthIndicatorResult ill = indicator.of(nodes, true, 2);
    assertEquals(HealthStatus.YELLOW, ill.status());
    assertEquals("Vector searches have trouble: gpu_lost, leftover_segments", ill.symptom());
    assertEquals(
        List.of("gpu_lost", "leftover_segments"),
        ill.diagnosisList().stream().map(each -> each.definition().id()).toList());
    assertEquals(
        List.of("a", "c"),
        ill.diagnosisList().get(1).affectedResources().get(0).getNodes().stream()
            .map(each -> each.getId())
            .toList());
    assertEquals(2, ill.impacts().size());
    HealthIndicatorResult brief = indicator.of(nodes, false, 2);
    assertEquals(HealthStatus.YELLOW, brief.status());
    assertSame(HealthIndicatorDetails.EMPTY, brief.details());
  }
}
