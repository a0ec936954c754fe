package dev.vamana.tools.cells;

import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;

/**
 * An index over a set of vectors with an exact number of segments, made side by side: each is a
 * shard of another index, which is then shrunk to one shard. They are of nearly equal size, since
 * the id of a document decides in which segment it lies.
 *
 * @param index need not exist yet
 */
public record SegmentedIndex(NodeClient client, VectorSet set, KnnIndex index) {

  private static final int BULK_SIZE = 500;

  /** Most components of a request: some 20 MB of text. */
  private static final int MOST_COMPONENTS = 1 << 21;

  /** Shards to index by where one segment is wanted. */
  private static final int SHARDS = 8;

  /** The node's merge policy leaves fewer segments than this alone. */
  private static final String MOST_SEGMENTS = "1000";

  /**
   * Creates the index anew and fills it, unless it holds all vectors in so many segments.
   *
   * @param type type of {@code index_options}, such as {@code hnsw}
   * @param settings settings besides the ones that keep the segments as they are
   * @param segments 1 to the number of vectors
   * @throws IllegalStateException if there are other segments than wanted
   */
  public void fill(String type, Map<String, String> settings, int segments) throws IOException {
    int size = set.base().size();
    if (client.exists("/" + index.name())
        && index.documents() == size
        && index.segments() == segments) {
      return;
    }
    int count = segments == 1 ? SHARDS : segments;
    String name = index.name() + "-shards";
    Map<String, String> all = new TreeMap<>(settings);
    all.put("index.merge.policy.segments_per_tier", MOST_SEGMENTS);
    // by default a shard flushes when its log has reached 1 % of the disk, and every minute
    all.put("index.translog.flush_threshold_size", "10gb");
    all.put("index.translog.flush_threshold_age", "1h");
    client.delete("/" + name + "," + index.name() + "?ignore_unavailable=true");
    KnnIndex shards = new KnnIndex(client, name, name);
    shards.create(set.dimension(), set.metric(), type, count, all);
    // one request after the other, so a shard has one thread and makes one segment
    int together = Math.max(count, Math.min(BULK_SIZE * count, MOST_COMPONENTS / set.dimension()));
    for (int first = 0; first < size; first += together) {
      StringBuilder lines = new StringBuilder();
      for (int id = first; id < Math.min(size, first + together); id++) {
        KnnIndex.appendDocument(lines, id, set.base().rows()[id]);
      }
      shards.bulk(lines.toString());
    }
    client.post("/" + name + "/_flush", null);
    client.put("/" + name + "/_settings", "{\"index.blocks.write\": true}");
    client.post(
        "/" + name + "/_shrink/" + index.name(),
        "{\"settings\": {\"index.blocks.write\": null, \"index.number_of_replicas\": 0}}");
    client.get("/_cluster/health/" + index.name() + "?wait_for_status=green&timeout=5m");
    client.delete("/" + name);
    if (segments == 1) {
      index.finish();
    }
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
