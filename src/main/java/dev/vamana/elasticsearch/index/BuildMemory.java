package dev.vamana.elasticsearch.index;

import dev.vamana.elasticsearch.gpu.PinnedMemoryBreaker;
import dev.vamana.elasticsearch.monitor.stats.Counters;
import dev.vamana.work.MemoryBudget;
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

  /** Returns the limit in bytes, if any, the bytes in use, and the number of temporary files. */
  public Counters stats() {
    long limit = budget.limit();
    return Counters.builder()
        .put("limit_in_bytes", limit == Long.MAX_VALUE ? null : Long.valueOf(limit))
        .put("used_in_bytes", budget.used())
        .put("files", budget.files())
        .build();
  }
}
