package dev.vamana.elasticsearch.index;

import dev.vamana.elasticsearch.gpu.PinnedMemoryBreaker;
import dev.vamana.work.MemoryBudget;
import java.util.SortedMap;
import java.util.TreeMap;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.unit.ByteSizeValue;

/**
 * The native memory in which all shards of a node build graphs.
 *
 * <p>It has no circuit breaker, which would let merges fail: a graph that does not fit is built in
 * a temporary file.
 */
public final class BuildMemory {

  /** Limit in bytes, or as a share of the heap; -1 for no limit. */
  public static final Setting<ByteSizeValue> LIMIT =
      new Setting<>(
          "vamana.build.memory.limit",
          "50%",
          text -> PinnedMemoryBreaker.parseLimit("vamana.build.memory.limit", text),
          Property.NodeScope,
          Property.Dynamic);

  private final MemoryBudget budget;

  /** Makes the budget of a node with these settings. */
  public BuildMemory(Settings settings) {
    this.budget = new MemoryBudget(bytes(LIMIT.get(settings)));
  }

  private static long bytes(ByteSizeValue limit) {
    return limit.getBytes() < 0 ? Long.MAX_VALUE : limit.getBytes();
  }

  /** Applies changes of the setting. */
  public void follow(ClusterSettings settings) {
    settings.addSettingsUpdateConsumer(LIMIT, limit -> budget.limit(bytes(limit)));
  }

  /** The budget that builds share. */
  public MemoryBudget budget() {
    return budget;
  }

  /**
   * Returns the {@code limit} in bytes, if any, the bytes that are {@code used}, and the number of
   * temporary {@code files}.
   */
  public SortedMap<String, Long> stats() {
    SortedMap<String, Long> stats = new TreeMap<>();
    if (budget.limit() != Long.MAX_VALUE) {
      stats.put("limit", budget.limit());
    }
    stats.put("used", budget.used());
    stats.put("files", budget.files());
    return stats;
  }
}
