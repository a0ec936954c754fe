package dev.vamana.cuda.memory;

import java.util.Locale;

/**
 * A memory limit: either a number of bytes or a percentage of the total.
 *
 * @param percent percentage of the total, above 0 and at most 100; 0 if {@code bytes} is the limit
 * @param bytes at least 0; used if {@code percent} is 0
 */
public record MemoryLimit(double percent, long bytes) {

  /**
   * The default share of a device's memory for resident segments. Two nodes on one device take 80
   * %; the rest is for their contexts (about half a gigabyte each), queries in flight, scratch
   * memory of walks, and other users.
   */
  public static final MemoryLimit DEFAULT_DEVICE = percent(40);

  /**
   * The default share of host memory that may be pinned in the page cache. Elasticsearch leaves
   * half of the memory to the page cache; the default is half of this half, since pinned pages
   * cannot make room for other files.
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
   * Makes a limit from a percentage.
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
   * Makes a limit from a number of bytes.
   *
   * @param bytes at least 0
   */
  public static MemoryLimit bytes(long bytes) {
    return new MemoryLimit(0, bytes);
  }

  /** Returns the limit of each of {@code parts} users who share this one, 1 or more. */
  public MemoryLimit part(int parts) {
    return new MemoryLimit(percent / parts, bytes / parts);
  }

  /** Returns the limit in bytes, at most {@code total}. */
  public long of(long total) {
    return percent > 0 ? (long) (total / 100.0 * percent) : Math.min(bytes, total);
  }

  @Override
  public String toString() {
    return percent > 0 ? String.format(Locale.ROOT, "%s%%", percent) : bytes + "b";
  }
}
