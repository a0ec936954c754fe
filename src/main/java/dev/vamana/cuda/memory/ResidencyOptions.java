package dev.vamana.cuda.memory;

import java.time.Duration;
import java.util.Objects;

/**
 * How a {@link SegmentResidency} works.
 *
 * @param placement of all segments; null to choose for each
 * @param deviceLimit of device memory
 * @param pageCacheLimit of pages that are pinned for the device
 * @param hostBytes memory of the host, of which {@code pageCacheLimit} may be a share
 * @param evictAfter how long a segment has to be unused before it may be evicted
 * @param retryAfter how long after a failed upload a search may queue the next
 */
public record ResidencyOptions(
    Placement placement,
    MemoryLimit deviceLimit,
    MemoryLimit pageCacheLimit,
    long hostBytes,
    Duration evictAfter,
    Duration retryAfter) {

  /** Default of {@code evictAfter}. */
  public static final Duration DEFAULT_EVICT_AFTER = Duration.ofSeconds(60);

  /** Default of {@code retryAfter}. */
  public static final Duration DEFAULT_RETRY_AFTER = Duration.ofSeconds(30);

  public ResidencyOptions {
    Objects.requireNonNull(deviceLimit, "deviceLimit");
    Objects.requireNonNull(pageCacheLimit, "pageCacheLimit");
    if (hostBytes < 0) {
      throw new IllegalArgumentException("hostBytes must be at least 0, got " + hostBytes);
    }
    check("evictAfter", evictAfter);
    check("retryAfter", retryAfter);
  }

  private static void check(String name, Duration duration) {
    if (duration.isNegative()) {
      throw new IllegalArgumentException(name + " must not be negative, got " + duration);
    }
  }

  /**
   * The defaults: placements are chosen.
   *
   * @param hostBytes memory of the host
   */
  public static ResidencyOptions defaults(long hostBytes) {
    return new ResidencyOptions(
        null,
        MemoryLimit.DEFAULT_DEVICE,
        MemoryLimit.DEFAULT_PAGE_CACHE,
        hostBytes,
        DEFAULT_EVICT_AFTER,
        DEFAULT_RETRY_AFTER);
  }

  /** With a placement for all segments, or null to choose for each. */
  public ResidencyOptions withPlacement(Placement forced) {
    return new ResidencyOptions(
        forced, deviceLimit, pageCacheLimit, hostBytes, evictAfter, retryAfter);
  }

  /** With other limits. */
  public ResidencyOptions withLimits(MemoryLimit device, MemoryLimit pageCache) {
    return new ResidencyOptions(placement, device, pageCache, hostBytes, evictAfter, retryAfter);
  }

  /** With other times. */
  public ResidencyOptions withTimes(Duration newEvictAfter, Duration newRetryAfter) {
    return new ResidencyOptions(
        placement, deviceLimit, pageCacheLimit, hostBytes, newEvictAfter, newRetryAfter);
  }
}
