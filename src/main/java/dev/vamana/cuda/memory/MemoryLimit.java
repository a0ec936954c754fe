package dev.vamana.cuda.memory;

import java.util.Locale;

/**
 * How much memory may be used: so many bytes, or a share of all there is.
 *
 * @param percent share of all memory, above 0 and at most 100; or 0 if {@code bytes} counts
 * @param bytes at least 0; counts if {@code percent} is 0
 */
public record MemoryLimit(double percent, long bytes) {

  /**
   * The share of a device that resident segments may take by default. Two nodes on one device take
   * 80 % of it, and a fifth is left for their contexts (about half a gigabyte each), queries in
   * flight, scratch of walks, and others.
   */
  public static final MemoryLimit DEFAULT_DEVICE = percent(40);

  /**
   * The share of the host's memory that may be pinned in the page cache by default. Elasticsearch
   * leaves half of the memory to the page cache; this is half of that half, since pages that are
   * pinned cannot make room for other files.
   */
  public static final MemoryLimit DEFAULT_PAGE_CACHE = percent(25);

  public MemoryLimit {
    if ((percent >= 0 && percent <= 100) == false) {
      throw new IllegalArgumentException(
          "memory limit must be above 0% and at most 100%, got " + percent + "%");
    }
    if (bytes < 0) {
      throw new IllegalArgumentException("memory limit must be at least 0 bytes, got " + bytes);
    }
    if (percent > 0 && bytes > 0) {
      throw new IllegalArgumentException(
          "memory limit is either a share or bytes, got " + percent + "% and " + bytes + " bytes");
    }
  }

  /**
   * A share of all memory.
   *
   * @param percent above 0, at most 100
   */
  public static MemoryLimit percent(double percent) {
    if (percent == 0) {
      throw new IllegalArgumentException("memory limit must be above 0%");
    }
    return new MemoryLimit(percent, 0);
  }

  /**
   * A number of bytes.
   *
   * @param bytes at least 0
   */
  public static MemoryLimit bytes(long bytes) {
    return new MemoryLimit(0, bytes);
  }

  /** The limit in bytes, at most {@code total}, which is all memory there is. */
  public long of(long total) {
    return percent > 0 ? (long) (total / 100.0 * percent) : Math.min(bytes, total);
  }

  @Override
  public String toString() {
    return percent > 0 ? String.format(Locale.ROOT, "%s%%", percent) : bytes + "b";
  }
}
