package dev.vamana.tools.cells;

import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongConsumer;

/** An index over a set of vectors with an exact number of segments of equal size. */
public final class SegmentedIndex {

  private static final int BULK_SIZE = 500;

  /** The node's merge policy leaves fewer segments than this alone. */
  private static final String MOST_SEGMENTS = "1000";

  private final NodeClient client;
  private final VectorSet set;
  private final KnnIndex index;

  /** Describes an index, which need not exist yet. */
  public SegmentedIndex(NodeClient client, VectorSet set, KnnIndex index) {
    this.client = client;
    this.set = set;
    this.index = index;
  }

  /** Whether the index holds all vectors in so many segments. */
  public boolean isThere(int segments) throws IOException {
    if (client.send("GET", "/" + index.name(), null, "application/json").status() != 200) {
      return false;
    }
    Object documents = client.get("/" + index.name() + "/_count").get("count");
    return Integer.valueOf(set.base().size()).equals(documents) && index.segments() == segments;
  }

  /**
   * Creates the index anew, without documents.
   *
   * @param type type of {@code index_options}, such as {@code hnsw}
   * @param settings settings besides those that keep the segments as they are
   */
  public void create(String type, Map<String, String> settings) throws IOException {
    client.request("DELETE", "/" + index.name() + "?ignore_unavailable=true", null);
    Map<String, String> all = new TreeMap<>(settings);
    all.put("index.merge.policy.segments_per_tier", MOST_SEGMENTS);
    // by default a shard flushes when its log has reached 1 % of the disk, and every minute
    all.put("index.translog.flush_threshold_size", "10gb");
    all.put("index.translog.flush_threshold_age", "1h");
    index.create(set.dimension(), set.metric(), type, all);
  }

  /**
   * Fills the index, which is empty. More than one segment are flushed; one is what a forced merge
   * makes.
   *
   * @param segments 1 to the number of vectors
   * @param done is told how many vectors have been indexed
   * @throws IllegalStateException if there are more segments than wanted
   */
  public void fill(int segments, LongConsumer done) throws IOException {
    int size = set.base().size();
    if (segments > size) {
      throw new IllegalArgumentException(
          "segments is "
              + segments
              + ", allowed is [1, "
              + size
              + "], the number of vectors of "
              + set.name());
    }
    int from = 0;
    for (int segment = 0; segment < segments; segment++) {
      int to = (int) ((long) size * (segment + 1) / segments);
      while (from < to) {
        int end = Math.min(to, from + BULK_SIZE);
        StringBuilder lines = new StringBuilder();
        for (int id = from; id < end; id++) {
          KnnIndex.appendDocument(lines, id, set.base().rows()[id]);
        }
        index.bulk(lines.toString());
        from = end;
        done.accept(from);
      }
      client.post("/" + index.name() + "/_refresh", null);
    }
    if (segments == 1) {
      merge();
    } else {
      finish(segments);
    }
  }

  /** Merges the index to one segment. */
  public void merge() throws IOException {
    index.finish();
    finish(1);
  }

  private void finish(int segments) throws IOException {
    client.post("/" + index.name() + "/_flush", null);
    int found = index.segments();
    if (found != segments) {
      throw new IllegalStateException(
          index.label()
              + " has "
              + found
              + " segments instead of "
              + segments
              + ": if they are more, the vectors of one segment did not fit into the indexing"
              + " buffer; give the node more heap");
    }
  }
}
