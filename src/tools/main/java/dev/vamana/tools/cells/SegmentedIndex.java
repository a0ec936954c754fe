package dev.vamana.tools.cells;

import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.LongConsumer;

/** An index over a set of vectors with an exact number of segments. */
public final class SegmentedIndex {

  private static final int BULK_SIZE = 500;

  /** Sets of more components are indexed by several shards first. */
  public static final long MANY_COMPONENTS = 1 << 26;

  /** Most components of a request: some 20 MB of text. */
  private static final int MOST_COMPONENTS = 1 << 21;

  /** Shards to index by where one segment is wanted. */
  private static final int SHARDS = 8;

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
   * @param settings settings besides the ones that keep the segments as they are
   */
  public void create(String type, Map<String, String> settings) throws IOException {
    create(index, 1, type, settings);
  }

  private void create(KnnIndex created, int shards, String type, Map<String, String> settings)
      throws IOException {
    delete(created);
    Map<String, String> all = new TreeMap<>(settings);
    all.put("index.merge.policy.segments_per_tier", MOST_SEGMENTS);
    // by default a shard flushes when its log has reached 1 % of the disk, and every minute
    all.put("index.translog.flush_threshold_size", "10gb");
    all.put("index.translog.flush_threshold_age", "1h");
    created.create(set.dimension(), set.metric(), type, shards, all);
  }

  /**
   * Creates the index anew and fills it, a large set {@linkplain #createByShards by shards}.
   *
   * @param type as {@link #create} takes it
   * @param settings as {@link #create} takes them
   * @param segments 1 to the number of vectors
   * @throws IllegalStateException if there are other segments than wanted
   */
  public void createAndFill(String type, Map<String, String> settings, int segments)
      throws IOException {
    if ((long) set.base().size() * set.dimension() > MANY_COMPONENTS) {
      createByShards(type, settings, segments);
    } else {
      create(type, settings);
      fill(segments, done -> {});
    }
  }

  /**
   * Creates the index anew and fills it, with segments made side by side. Each segment is a shard
   * of another index, which is then shrunk to one shard. The segments are of nearly equal size: the
   * id of a document decides in which segment the document lies.
   *
   * @param type as {@link #create} takes it
   * @param settings as {@link #create} takes them
   * @param segments 1 to the number of vectors
   * @throws IllegalStateException if there are other segments than wanted
   */
  public void createByShards(String type, Map<String, String> settings, int segments)
      throws IOException {
    int count = segments == 1 ? SHARDS : segments;
    String name = index.name() + "-shards";
    KnnIndex shards = new KnnIndex(client, name, name);
    create(shards, count, type, settings);
    // one request after the other, so a shard has one thread and makes one segment
    int documents = Math.max(count, Math.min(BULK_SIZE * count, MOST_COMPONENTS / set.dimension()));
    bulk(shards, 0, set.base().size(), documents, done -> {});
    client.post("/" + name + "/_flush", null);
    client.put("/" + name + "/_settings", "{\"index.blocks.write\": true}");
    delete(index);
    client.post(
        "/" + name + "/_shrink/" + index.name(),
        "{\"settings\": {\"index.blocks.write\": null, \"index.number_of_replicas\": 0}}");
    client.get("/_cluster/health/" + index.name() + "?wait_for_status=green&timeout=5m");
    delete(shards);
    if (segments == 1) {
      merge();
    } else {
      finish(segments);
    }
  }

  /**
   * Fills the index, which is empty. More than one segment are flushed and of equal size; one is
   * what a forced merge makes.
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
      bulk(index, from, to, BULK_SIZE, done);
      from = to;
      client.post("/" + index.name() + "/_refresh", null);
    }
    if (segments == 1) {
      merge();
    } else {
      finish(segments);
    }
  }

  private void delete(KnnIndex deleted) throws IOException {
    client.delete("/" + deleted.name() + "?ignore_unavailable=true");
  }

  private void bulk(KnnIndex filled, int from, int to, int documents, LongConsumer done)
      throws IOException {
    for (int first = from; first < to; first += documents) {
      int end = Math.min(to, first + documents);
      StringBuilder lines = new StringBuilder();
      for (int id = first; id < end; id++) {
        KnnIndex.appendDocument(lines, id, set.base().rows()[id]);
      }
      filled.bulk(lines.toString());
      done.accept(end);
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
