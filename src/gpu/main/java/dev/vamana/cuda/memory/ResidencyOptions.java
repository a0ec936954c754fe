package dev.vamana.cuda.memory;

import java.time.Duration;
import java.util.Objects;
import java.util.Set;

/**
 * Options of a {@link Residency}.
 *
 * @param placements placements from which one is chosen for each segment; not empty
 * @param deviceLimit limit of device memory
 * @param pageCacheLimit limit of page cache pinned for the device
 * @param hostBytes memory of the host, to which a percentage in {@code pageCacheLimit} refers
 * @param evictAfter how long a segment must have been unused before it may be evicted
 * @param retryAfter how long after a failed upload a search may queue the segment again
 */
public record ResidencyOptions(
    Set<Placement> placements,
    MemoryLimit deviceLimit,
    MemoryLimit pageCacheLimit,
    long hostBytes,
    Duration evictAfter,
    Duration retryAfter) {

  /** Default of {@code evictAfter}: 60 seconds. */
  public static final Duration DEFAULT_EVICT_AFTER = Duration.ofSeconds(60);

  /** Default of {@code retryAfter}: 30 seconds. */
  public static final Duration DEFAULT_RETRY_AFTER = Duration.ofSeconds(30);

  public ResidencyOptions {
    placements = Set.copyOf(placements);
    if (placements.isEmpty()) {
      throw new IllegalArgumentException("placements must not be empty");
    }
    Objects.requireNonNull(deviceLimit, "deviceLimit");
    Objects.requireNonNull(pageCacheLimit, "pageCacheLimit");
    if (hostBytes < 0) {
      throw new IllegalArgumentException("hostBytes must be at least 0, got " + hostBytes);
    }
  }

  /**
   * Returns the defaults; placements are chosen for each segment.
   *
   * @param hostBytes memory of the host
   */
  public static ResidencyOptions defaults(long hostBytes) {
    return new ResidencyOptions(
        Placement.ALL,
        MemoryLimit.DEFAULT_DEVICE,
        MemoryLimit.DEFAULT_PAGE_CACHE,
        hostBytes,
        DEFAULT_EVICT_AFTER,
        DEFAULT_RETRY_AFTER);
  }

  /** Returns these options with a placement for all segments, or null to choose for each. */
  public ResidencyOptions withPlacement(Placement forced) {
    return withPlacements(Placement.only(forced));
  }

  /** Returns these options with the placements from which one is chosen for each segment. */
  public ResidencyOptions withPlacements(Set<Placement> newPlacements) {
    return new ResidencyOptions(
        newPlacements, deviceLimit, pageCacheLimit, hostBytes, evictAfter, retryAfter);
  }

  /** Returns these options with other limits. */
  public ResidencyOptions withLimits(MemoryLimit device, MemoryLimit pageCache) {
    return new ResidencyOptions(placements, device, pageCache, hostBytes, evictAfter, retryAfter);
  }

  /** Returns these options with other times. */
  public ResidencyOptions withTimes(Duration newEvictAfter, Duration newRetryAfter) {
    return new ResidencyOptions(
        placements, deviceLimit, pageCacheLimit, hostBytes, newEvictAfter, newRetryAfter);
  }
}
