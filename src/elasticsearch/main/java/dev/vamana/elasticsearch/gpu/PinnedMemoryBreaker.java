package dev.vamana.elasticsearch.gpu;

import dev.vamana.cuda.memory.HostMemoryAccount;
import java.util.List;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.breaker.CircuitBreakingException;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.unit.ByteSizeValue;
import org.elasticsearch.common.unit.MemorySizeValue;
import org.elasticsearch.indices.breaker.BreakerSettings;

/**
 * The circuit breaker {@code vamana}, which limits the host memory that the executor pins.
 *
 * <p>It does not count for the parent breaker, which watches the heap, because pinned memory is not
 * on the heap.
 */
public final class PinnedMemoryBreaker implements HostMemoryAccount {

  /** The breaker's name. */
  public static final String NAME = "vamana";

  /** Limit in bytes, or as a share of the heap; -1 for no limit. */
  public static final Setting<ByteSizeValue> LIMIT =
      new Setting<>(
          "vamana.breaker.limit",
          "30%",
          text -> parseLimit("vamana.breaker.limit", text),
          Property.NodeScope,
          Property.Dynamic);

  /** Factor that bytes are multiplied by before they are compared with the limit. */
  public static final Setting<Double> OVERHEAD =
      Setting.doubleSetting(
          "vamana.breaker.overhead", 1.0, 0.0, Property.NodeScope, Property.Dynamic);

  /** All settings, for registration. */
  public static final List<Setting<?>> SETTINGS = List.of(LIMIT, OVERHEAD);

  private static final String LABEL = "pinned memory";

  private CircuitBreaker breaker;

  public static ByteSizeValue parseLimit(String key, String text) {
    try {
      return MemorySizeValue.parseBytesSizeValueOrHeapRatio(text, key);
    } catch (RuntimeException e) {
      throw new IllegalArgumentException(
          "Failed to parse value ["
              + text
              + "] for setting ["
              + key
              + "] must be 0% to 100% of the heap, a number of bytes, or [-1] for no limit",
          e);
    }
  }

  /** Describes the breaker for the node that creates it. */
  public static BreakerSettings settings(Settings settings) {
    return new BreakerSettings(
        NAME,
        LIMIT.get(settings).getBytes(),
        OVERHEAD.get(settings),
        CircuitBreaker.Type.MEMORY,
        CircuitBreaker.Durability.TRANSIENT);
  }

  /** Sets the breaker that the node has created. */
  public synchronized void set(CircuitBreaker made) {
    breaker = made;
  }

  /** Applies changes of the settings to the breaker. */
  public void follow(ClusterSettings settings) {
    settings.addSettingsUpdateConsumer(LIMIT, OVERHEAD, this::change);
  }

  private synchronized void change(ByteSizeValue limit, double overhead) {
    if (breaker != null) {
      breaker.setLimitAndOverhead(limit.getBytes(), overhead);
    }
  }

  @Override
  public synchronized boolean reserve(long bytes) {
    if (breaker == null) {
      return true;
    }
    long limit = breaker.getLimit();
    double wanted = (breaker.getUsed() + bytes) * breaker.getOverhead();
    if (limit >= 0 && wanted > limit) {
      try {
        breaker.circuitBreak(LABEL, (long) wanted);
      } catch (CircuitBreakingException e) {
        // the breaker has counted the refusal; the executor logs what it could not do
      }
      return false;
    }
    breaker.addWithoutBreaking(bytes);
    return true;
  }

  @Override
  public synchronized void release(long bytes) {
    if (breaker != null) {
      breaker.addWithoutBreaking(-bytes);
    }
  }

  @Override
  public String toString() {
    return "circuit breaker [" + NAME + "], see [" + LIMIT.getKey() + "]";
  }
}
