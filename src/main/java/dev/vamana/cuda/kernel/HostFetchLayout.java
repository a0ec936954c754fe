package dev.vamana.cuda.kernel;

/**
 * Byte offsets of {@code vamana::HostFetch} in native-kernels/include/vamana/host_fetch.h, the
 * parameter of {@code host_fetch_begin} and {@code host_fetch_step}. Fields are named as there;
 * addresses and keys have 64 bits, other fields 32, in native byte order.
 */
public final class HostFetchLayout {

  /** Size of the block. */
  public static final int BYTES = 96;

  public static final long ITEMS = 0;
  public static final long STATES = 8;
  public static final long TABLES = 16;
  public static final long LISTS = 24;
  public static final long VISITED = 32;
  public static final long SLOTS = 40;
  public static final long ROWS = 48;
  public static final long PICKS = 56;
  public static final long COUNT = 64;
  public static final long TABLE_STRIDE = 68;
  public static final long LIST_CAPACITY = 72;
  public static final long FRESH_CAPACITY = 76;
  public static final long VISITED_SLOTS = 80;
  public static final long ROW_STRIDE = 84;
  public static final long PARENTS = 88;

  private HostFetchLayout() {}
}
