package dev.vamana.elasticsearch.gpu;

import dev.vamana.cuda.batch.BatchOptions;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.plan.PlanMode;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.unit.ByteSizeUnit;
import org.elasticsearch.common.unit.ByteSizeValue;
import org.elasticsearch.common.unit.RatioValue;
import org.elasticsearch.common.unit.RelativeByteSizeValue;
import org.elasticsearch.core.PathUtils;
import org.elasticsearch.core.TimeValue;

/**
 * The GPU settings of a node; docs/operators/node-settings.md documents them for operators.
 *
 * <p>All settings are read when the node starts, and the {@link #DYNAMIC} ones can be changed
 * later. A value out of range is rejected with an {@link IllegalArgumentException} that names
 * setting, value and range; the node then does not start.
 *
 * @param mode whether to use a GPU
 * @param devices the devices to use: {@code all}, or numbers and UUIDs among the devices that the
 *     driver shows to the process
 * @param memoryLimit most device memory for segments
 * @param pageCacheLimit most host memory that is pinned so that the device can read segment files
 * @param placements placements from which one is chosen for each segment
 * @param maxBatch most work items of one launch
 * @param linger how long an idle device waits for further queries before it starts the first
 * @param segmentsAhead whether a query's later segments are sent to the device together with its
 *     first one
 * @param waitForUpload whether queries wait for a segment that is being uploaded; otherwise the CPU
 *     searches it
 * @param plan how queries are planned
 * @param buildGraphs whether flushes and merges build graphs on the GPU
 * @param compileKernels whether the node compiles kernels for a device that the plugin has none for
 * @param nvrtc folder of the compiler's libraries, or null for the library that the system finds
 */
public record GpuSettings(
    GpuMode mode,
    List<String> devices,
    MemoryLimit memoryLimit,
    MemoryLimit pageCacheLimit,
    Set<Placement> placements,
    int maxBatch,
    TimeValue linger,
    boolean segmentsAhead,
    boolean waitForUpload,
    PlanMode plan,
    boolean buildGraphs,
    boolean compileKernels,
    Path nvrtc) {

  private static final ByteSizeValue MIN_MEMORY = ByteSizeValue.of(64, ByteSizeUnit.MB);
  private static final TimeValue MAX_LINGER = TimeValue.timeValueMillis(100);

  /** Whether this node uses a GPU. */
  static final Setting<GpuMode> ENABLED =
      new Setting<>(
          "vamana.gpu.enabled",
          GpuMode.AUTO.settingName(),
          text ->
              oneOf(
                  "vamana.gpu.enabled",
                  text,
                  Arrays.asList(GpuMode.values()),
                  GpuMode::settingName),
          Property.NodeScope);

  /** Most device memory for segments. */
  static final Setting<MemoryLimit> MEMORY_LIMIT =
      memorySetting(
          "vamana.gpu.memory.limit", MemoryLimit.DEFAULT_DEVICE, MIN_MEMORY, "the device's");

  /** Most host memory that is pinned so that the device can read segment files. */
  static final Setting<MemoryLimit> PAGE_CACHE_LIMIT =
      memorySetting(
          "vamana.gpu.page_cache.limit",
          MemoryLimit.DEFAULT_PAGE_CACHE,
          ByteSizeValue.ZERO,
          "the host's");

  /** Most work items of one launch. */
  static final Setting<Integer> BATCH_MAX_SIZE =
      Setting.intSetting(
          "vamana.gpu.batch.max_size",
          BatchOptions.DEFAULT.maxBatch(),
          1,
          BatchOptions.MAX_BATCH,
          Property.NodeScope,
          Property.Dynamic);

  /** How long an idle device waits for further queries before it starts the first. */
  static final Setting<TimeValue> BATCH_LINGER =
      Setting.timeSetting(
          "vamana.gpu.batch.linger",
          TimeValue.ZERO,
          TimeValue.ZERO,
          MAX_LINGER,
          Property.NodeScope,
          Property.Dynamic);

  /** Whether a query's later segments are sent to the device together with its first one. */
  static final Setting<Boolean> SEGMENTS_AHEAD =
      booleanSetting("vamana.gpu.batch.segments_ahead", true, Property.NodeScope, Property.Dynamic);

  /** Whether queries wait for a segment that is being uploaded to the device. */
  static final Setting<Boolean> WAIT_FOR_UPLOAD =
      booleanSetting("vamana.gpu.wait_for_upload", false, Property.NodeScope, Property.Dynamic);

  /** Whether queries are planned or all answered in the same way. */
  static final Setting<PlanMode> PLAN =
      new Setting<>(
          "vamana.gpu.plan",
          PlanMode.AUTO.settingName(),
          text ->
              oneOf(
                  "vamana.gpu.plan", text, Arrays.asList(PlanMode.values()), PlanMode::settingName),
          Property.NodeScope,
          Property.Dynamic);

  /** Whether flushes and merges build graphs on the GPU: {@code auto} or {@code off}. */
  static final Setting<Boolean> BUILD =
      new Setting<>(
          "vamana.gpu.build",
          "auto",
          text ->
              oneOf("vamana.gpu.build", text, List.of("auto", "off"), Function.identity())
                  .equals("auto"),
          Property.NodeScope);

  /** Whether the node compiles kernels for a device that the plugin has no kernels for. */
  static final Setting<Boolean> COMPILE_KERNELS =
      booleanSetting("vamana.gpu.kernels.compile", false, Property.NodeScope);

  /** Folder of the compiler's libraries; empty for the one that the system finds. */
  static final Setting<String> NVRTC =
      Setting.simpleString(
          "vamana.gpu.kernels.nvrtc", GpuSettings::checkFolder, Property.NodeScope);

  /** The settings that can be changed while the node runs. */
  public static final List<Setting<?>> DYNAMIC =
      List.of(
          MEMORY_LIMIT,
          PAGE_CACHE_LIMIT,
          PlacementSettings.PLACEMENT,
          PlacementSettings.PRECISION,
          BATCH_MAX_SIZE,
          BATCH_LINGER,
          SEGMENTS_AHEAD,
          WAIT_FOR_UPLOAD,
          PLAN);

  /** All settings, for registration. */
  public static final List<Setting<?>> ALL =
      Stream.concat(
              Stream.of(ENABLED, DevicesSetting.DEVICES, BUILD, COMPILE_KERNELS, NVRTC),
              DYNAMIC.stream())
          .toList();

  /** Reads the settings of a node. */
  public static GpuSettings of(Settings settings) {
    return new GpuSettings(
        ENABLED.get(settings),
        DevicesSetting.of(settings),
        MEMORY_LIMIT.get(settings),
        PAGE_CACHE_LIMIT.get(settings),
        PlacementSettings.of(settings),
        BATCH_MAX_SIZE.get(settings),
        BATCH_LINGER.get(settings),
        SEGMENTS_AHEAD.get(settings),
        WAIT_FOR_UPLOAD.get(settings),
        PLAN.get(settings),
        BUILD.get(settings),
        COMPILE_KERNELS.get(settings),
        NVRTC.get(settings).isEmpty() ? null : PathUtils.get(NVRTC.get(settings)));
  }

  /**
   * Makes a boolean setting. Elasticsearch's own does not name the allowed values in its errors.
   */
  static Setting<Boolean> booleanSetting(String key, boolean value, Property... properties) {
    return new Setting<>(
        key,
        Boolean.toString(value),
        text -> Boolean.valueOf(oneOf(key, text, List.of("true", "false"), Function.identity())),
        properties);
  }

  private static void checkFolder(String text) {
    if (text.isEmpty() == false && text.startsWith("/") == false) {
      throw new IllegalArgumentException(
          "Failed to parse value ["
              + text
              + "] for setting [vamana.gpu.kernels.nvrtc] must be empty or the absolute path of a folder with"
              + " libnvrtc.so.12, such as [/usr/local/cuda/lib64]");
    }
  }

  /**
   * Returns the value with a name.
   *
   * @throws IllegalArgumentException if none has it; names setting, text and all names
   */
  public static <T> T oneOf(String key, String text, List<T> values, Function<T, String> name) {
    return values.stream()
        .filter(value -> name.apply(value).equals(text))
        .findFirst()
        .orElseThrow(() -> notOneOf(key, text, values.stream().map(name).toList()));
  }

  private static IllegalArgumentException notOneOf(String key, String text, List<String> names) {
    return new IllegalArgumentException(
        "Failed to parse value ["
            + text
            + "] for setting ["
            + key
            + "] must be one of "
            + names.stream().collect(Collectors.joining(", ", "[", "]")));
  }

  /**
   * Makes a setting for a limit in bytes or as a share of all memory of one kind. The memory
   * settings of Elasticsearch take shares of the heap instead.
   */
  private static Setting<MemoryLimit> memorySetting(
      String key, MemoryLimit defaultLimit, ByteSizeValue min, String whose) {
    String text = new RatioValue(defaultLimit.percent()).formatNoTrailingZerosPercent();
    return new Setting<>(
        key,
        text,
        value -> parseMemory(key, value, min, whose),
        Property.NodeScope,
        Property.Dynamic);
  }

  private static MemoryLimit parseMemory(String key, String text, ByteSizeValue min, String whose) {
    RelativeByteSizeValue value;
    try {
      value = RelativeByteSizeValue.parseRelativeByteSizeValue(text, key);
    } catch (RuntimeException e) {
      throw memoryRange(key, text, min, whose, e);
    }
    if (value.isAbsolute()) {
      long bytes = value.getAbsolute().getBytes();
      if (bytes >= min.getBytes()) {
        return MemoryLimit.bytes(bytes);
      }
    } else {
      double percent = value.getRatio().getAsPercent();
      if (percent > 0 && percent <= 100) {
        return MemoryLimit.percent(percent);
      }
    }
    throw memoryRange(key, text, min, whose, null);
  }

  private static IllegalArgumentException memoryRange(
      String key, String text, ByteSizeValue min, String whose, Exception cause) {
    return new IllegalArgumentException(
        String.format(
            Locale.ROOT,
            "Failed to parse value [%s] for setting [%s] must be above 0%% and at most 100%% of %s"
                + " memory, or at least %s",
            text,
            key,
            whose,
            min),
        cause);
  }
}
