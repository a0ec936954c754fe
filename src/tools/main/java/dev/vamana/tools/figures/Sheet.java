package dev.vamana.tools.figures;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The CSV files of figures. The first columns of each are {@link #FIRST}. */
public enum Sheet {
  /** Searches: recall@10, queries a second, and the median of a call. */
  GPU(5, "method", "placement", "batch", "callers", "recall", "qps", "p50_us"),
  /** Builds of graphs, lists and indices. */
  BUILDS(2, "method", "threads", "seconds"),
  /** Ratios of requests a second over HTTP at equal recall. */
  CELLS(
      3,
      "segments",
      "clients",
      "recall",
      "gpu_over_hnsw",
      "gpu_over_cpu",
      "cpu_over_hnsw",
      "cpu_over_int8",
      "cpu_over_bbq"),
  /** Stock indices that the node's GPU searches, over the same without it, as {@link #CELLS}. */
  STOCK_CELLS(3, "segments", "clients", "recall", "hnsw", "int8", "bbq"),
  /** Bytes of an index on the disk, and of what its searches read outside of the heap. */
  SIZES(2, "kind", "segments", "disk_bytes", "off_heap_bytes"),
  /** Searches with a filter for each query. */
  FILTERS(3, "placement", "share", "kind", "recall", "qps", "stock_recall", "stock_qps"),
  /** Searches beside indexing: latencies of all requests. */
  NRT(3, "kind", "rate", "clients", "searches", "p50_ms", "p99_ms", "max_ms", "docs"),
  /** Batches over several devices: segments of the index, and queries a second. */
  DEVICES(4, "method", "placement", "segments", "devices", "recall", "qps"),
  /** Tests that ran on the device. */
  TESTS(1, "test", "outcome", "seconds");

  /** Columns that every file has. */
  public static final List<String> FIRST = List.of("commit", "device", "set", "n", "dims");

  private final int keys;
  private final List<String> columns;

  Sheet(int keys, String... columns) {
    this.keys = keys;
    this.columns = List.of(columns);
  }

  /** Returns the columns after the first ones. */
  public List<String> columns() {
    return columns;
  }

  /** Returns the columns that tell a row from others of the same commit. */
  List<String> keys() {
    List<String> all = new ArrayList<>(FIRST);
    all.addAll(columns.subList(0, keys));
    return all;
  }

  /** Returns the first line of the file. */
  public String header() {
    return String.join(",", FIRST) + "," + String.join(",", columns);
  }

  /** Returns the name of the file. */
  public String file() {
    return name().toLowerCase(Locale.ROOT).replace('_', '-') + ".csv";
  }
}
