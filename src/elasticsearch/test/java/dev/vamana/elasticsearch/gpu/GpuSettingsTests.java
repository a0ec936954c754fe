package dev.vamana.elasticsearch.gpu;

import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.elasticsearch.ServerClasses;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Settings;
import org.junit.BeforeClass;

public class GpuSettingsTests extends LuceneTestCase {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  public void testEverySettingIsRead() {
    GpuSettings settings =
        GpuSettings.of(
            Settings.builder()
                .put("vamana.gpu.enabled", "required")
                .put("vamana.gpu.devices", "3")
                .put("vamana.gpu.memory.limit", "12gb")
                .put("vamana.gpu.page_cache.limit", "12.5%")
                .put("vamana.gpu.placement", "mapped-graph")
                .put("vamana.gpu.batch.max_size", 7)
                .put("vamana.gpu.batch.linger", "50micros")
                .put("vamana.gpu.batch.segments_ahead", false)
                .put("vamana.gpu.wait_for_upload", true)
                .put("vamana.gpu.plan", "exact")
                .put("vamana.gpu.build", "off")
                .put("vamana.gpu.kernels.compile", true)
                .put("vamana.gpu.kernels.nvrtc", "/usr/local/cuda/lib64")
                .build());
    assertEquals(GpuMode.REQUIRED, settings.mode());
    assertEquals(List.of("3"), settings.devices());
    assertEquals(MemoryLimit.bytes(12L << 30), settings.memoryLimit());
    assertEquals(MemoryLimit.percent(12.5), settings.pageCacheLimit());
    assertEquals(Set.of(Placement.MAPPED_GRAPH), settings.placements());
    assertEquals(7, settings.maxBatch());
    assertEquals(50_000, settings.linger().nanos());
    assertFalse(settings.segmentsAhead());
    assertTrue(settings.waitForUpload());
    assertEquals(PlanMode.EXACT, settings.plan());
    assertFalse(settings.buildGraphs());
    assertTrue(settings.compileKernels());
    assertEquals("/usr/local/cuda/lib64", settings.nvrtc().toString());
  }

  public void testDefaults() {
    GpuSettings standard = GpuSettings.of(Settings.EMPTY);
    assertTrue(standard.buildGraphs());
    assertFalse(standard.compileKernels());
    assertNull(standard.nvrtc());
  }

  public void testPlaceAndPrecision() {
    assertEquals(Placement.ALL, placements("auto", "auto"));
    assertEquals(
        Set.of(Placement.EXACT, Placement.EXACT_FLOAT16, Placement.EXACT_INT8, Placement.IN_MEMORY),
        placements("device", "auto"));
    assertEquals(
        Set.of(Placement.IN_MEMORY, Placement.MAPPED_GRAPH, Placement.HOST_FETCH),
        placements("auto", "pq"));
    assertEquals(Set.of(Placement.EXACT), placements("auto", "float32"));
    assertEquals(Set.of(Placement.EXACT_INT8), placements("device", "int8"));
    assertEquals(Set.of(Placement.IN_MEMORY), placements("device", "pq"));
    assertEquals(Set.of(Placement.HOST_FETCH), placements("host-fetch", "auto"));
    assertEquals(Set.of(Placement.MAPPED_GRAPH), placements("mapped-graph", "pq"));
    for (String place : List.of("mapped-graph", "host-fetch")) {
      for (String precision : List.of("float32", "float16", "int8")) {
        IllegalArgumentException e =
            expectThrows(IllegalArgumentException.class, () -> placements(place, precision));
        for (String part :
            List.of(
                "[vamana.gpu.placement] is [" + place + "]",
                "[" + precision + "] for [vamana.gpu.precision]",
                "take [auto] or [pq]")) {
          assertTrue(e.getMessage(), e.getMessage().contains(part));
        }
      }
    }
  }

  private static Set<Placement> placements(String place, String precision) {
    return GpuSettings.of(
            Settings.builder()
                .put("vamana.gpu.placement", place)
                .put("vamana.gpu.precision", precision)
                .build())
        .placements();
  }

  public void testMemoryLimitInBytesOrAsAShareOfTheDevice() {
    assertEquals(250, limit("25%", 1000));
    assertEquals(1000, limit("100%", 1000));
    assertEquals(64L << 20, limit("64mb", 1L << 30));
    assertEquals("never more than the device has", 1L << 30, limit("2gb", 1L << 30));
    assertEquals(0, of("vamana.gpu.page_cache.limit", "0b").pageCacheLimit().of(1000));
  }

  private static long limit(String text, long deviceBytes) {
    return of("vamana.gpu.memory.limit", text).memoryLimit().of(deviceBytes);
  }

  private static GpuSettings of(String key, String value) {
    return GpuSettings.of(Settings.builder().put(key, value).build());
  }

  public void testValuesOutOfRangeAreNamed() {
    assertRejected("vamana.gpu.enabled", "yes", "auto, required, off");
    assertRejected("vamana.gpu.enabled", "AUTO", "auto, required, off");
    for (String memory : List.of("0%", "101%", "-5%", "1mb", "much", "-1", "0")) {
      assertRejected("vamana.gpu.memory.limit", memory, "at most 100% of the device's memory");
    }
    assertRejected("vamana.gpu.page_cache.limit", "-1", "at most 100% of the host's memory");
    assertRejected("vamana.gpu.page_cache.limit", "200%", "at most 100% of the host's memory");
    assertRejected(
        "vamana.gpu.placement", "everywhere", "[auto, device, mapped-graph, host-fetch]");
    assertRejected("vamana.gpu.placement", "exact", "[auto, device, mapped-graph, host-fetch]");
    assertRejected("vamana.gpu.precision", "double", "[auto, float32, float16, int8, pq]");
    assertRejected("vamana.gpu.batch.max_size", "0", "must be >= 1");
    assertRejected("vamana.gpu.batch.max_size", "65537", "must be <= 65536");
    assertRejected("vamana.gpu.batch.linger", "-2ms", "vamana.gpu.batch.linger");
    assertRejected("vamana.gpu.batch.linger", "1s", "100ms");
    assertRejected("vamana.gpu.batch.segments_ahead", "1", "[true, false]");
    assertRejected("vamana.gpu.wait_for_upload", "perhaps", "[true, false]");
    assertRejected("vamana.gpu.plan", "fastest", "[auto, exact, graph, cpu]");
    assertRejected("vamana.gpu.build", "true", "[auto, off]");
    assertRejected("vamana.gpu.kernels.nvrtc", "cuda/lib64", "absolute path of a folder");
  }

  public void testDevicesAreNumbersAndUuids() {
    String uuid = "GPU-c2fe43ba-0ae5-4e0b-a1b2-31f0c5d1a9e7";
    assertEquals(List.of("0", "7"), of("vamana.gpu.devices", "0, 07").devices());
    assertEquals(
        List.of("1", uuid),
        GpuSettings.of(
                Settings.builder()
                    .putList("vamana.gpu.devices", "1", uuid.replace("ba", "BA"))
                    .build())
            .devices());
    assertEquals(List.of("all"), of("vamana.gpu.devices", "all").devices());
    for (String wrong : List.of("64", "-1", "first", "ALL", "GPU-12", uuid + "0", "c2fe43ba")) {
      assertRejected("vamana.gpu.devices", wrong, "numbers from 0 to 63 and of UUIDs");
    }
    assertRejected("vamana.gpu.devices", "3, 3", "[3] twice", "has [3] twice");
    assertRejected("vamana.gpu.devices", "all,1", "[all, 1]", "has [all] beside other values");
  }

  private static void assertRejected(String key, String value, String range) {
    assertRejected(key, value, value, range);
  }

  private static void assertRejected(String key, String value, String named, String range) {
    IllegalArgumentException e = expectThrows(IllegalArgumentException.class, () -> of(key, value));
    String message = e.getMessage();
    for (Throwable cause = e.getCause(); cause != null; cause = cause.getCause()) {
      message += "; " + cause.getMessage();
    }
    assertTrue(message, message.contains(key));
    assertTrue(message, message.contains(named));
    assertTrue(message, message.contains(range));
  }

  /** These decide what a node opens when it starts; an open node takes all others, too. */
  public void testWhatTheStartNeedsIsNotDynamic() {
    Set<String> fixed =
        Set.of(
            "vamana.gpu.enabled",
            "vamana.gpu.devices",
            "vamana.gpu.build",
            "vamana.gpu.kernels.compile",
            "vamana.gpu.kernels.nvrtc");
    for (Setting<?> setting : GpuSettings.ALL) {
      assertTrue(setting.getKey(), setting.hasNodeScope());
      assertEquals(
          setting.getKey(), fixed.contains(setting.getKey()) == false, setting.isDynamic());
      assertEquals(setting.isDynamic(), GpuSettings.DYNAMIC.contains(setting));
    }
  }

  /** Changes come with what the file says of the other settings. */
  public void testChangesAreSeenTogether() {
    Settings file =
        Settings.builder()
            .put("vamana.gpu.memory.limit", "80%")
            .put("vamana.gpu.batch.max_size", 7)
            .build();
    ClusterSettings settings = new ClusterSettings(file, java.util.Set.copyOf(GpuSettings.ALL));
    List<GpuSettings> seen = new ArrayList<>();
    settings.addSettingsUpdateConsumer(
        changed -> seen.add(GpuSettings.of(changed)), GpuSettings.DYNAMIC);
    settings.applySettings(Settings.builder().put("vamana.gpu.memory.limit", "64mb").build());
    assertEquals(1, seen.size());
    assertEquals(MemoryLimit.bytes(64L << 20), seen.get(0).memoryLimit());
    assertEquals(7, seen.get(0).maxBatch());
    settings.applySettings(Settings.builder().put("vamana.gpu.wait_for_upload", true).build());
    assertEquals(MemoryLimit.percent(80), seen.get(1).memoryLimit());
    assertTrue(seen.get(1).waitForUpload());
    IllegalArgumentException e =
        expectThrows(
            IllegalArgumentException.class,
            () ->
                settings.applySettings(
                    Settings.builder().put("vamana.gpu.batch.max_size", 0).build()));
    assertTrue(e.toString(), e.toString().contains("vamana.gpu.batch.max_size"));
    assertEquals(2, seen.size());
  }

  public void testThePageNamesEverySettingWithItsDefault() throws IOException {
    List<String> lines = Files.readAllLines(Path.of("docs/operators/node-settings.md"));
    List<Setting<?>> settings = new ArrayList<>(GpuSettings.ALL);
    settings.addAll(PinnedMemoryBreaker.SETTINGS);
    for (Setting<?> setting : settings) {
      List<String> rows =
          lines.stream().filter(line -> line.startsWith("| `" + setting.getKey() + "` |")).toList();
      assertEquals("rows of " + setting.getKey(), 1, rows.size());
      assertEquals(
          setting.getKey(), setting.isDynamic() ? " yes " : " no ", rows.get(0).split("\\|")[4]);
      String documented = rows.get(0).split("\\|")[2].replaceAll("[`, ]", "");
      assertEquals(setting.getKey(), setting.getDefaultRaw(Settings.EMPTY), documented);
    }
  }
}
