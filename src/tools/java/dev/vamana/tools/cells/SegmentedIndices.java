package dev.vamana.tools.cells;

import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.demo.Progress;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Our index and the stock one over the same vectors, with an exact number of segments of equal
 * size.
 */
final class SegmentedIndices {

  private static final int BULK_SIZE = 500;

  /** The node's merge policy leaves fewer segments than this alone. */
  private static final String MOST_SEGMENTS = "1000";

  private final NodeClient client;
  private final VectorSet set;
  private final Progress progress;
  private final List<Contender> both;

  private SegmentedIndices(
      NodeClient client, VectorSet set, Progress progress, List<Contender> both) {
    this.client = client;
    this.set = set;
    this.progress = progress;
    this.both = both;
  }

  /**
   * Creates and fills both indices; they replace those of an earlier call.
   *
   * @param stock type of the stock index
   * @param segments segments of each
   */
  static SegmentedIndices fill(
      RunningNode node, VectorSet set, String stock, int segments, Progress progress)
      throws IOException {
    NodeClient client = node.client();
    KnnIndex ours = new KnnIndex(client, "cells-vamana", "vamana");
    KnnIndex theirs = new KnnIndex(client, "cells-stock", stock);
    Map<String, String> settings = new TreeMap<>();
    settings.put("index.merge.policy.segments_per_tier", MOST_SEGMENTS);
    // by default a shard flushes when its log has reached 1 % of the disk, and every minute
    settings.put("index.translog.flush_threshold_size", "10gb");
    settings.put("index.translog.flush_threshold_age", "1h");
    for (KnnIndex index : List.of(ours, theirs)) {
      client.request("DELETE", "/" + index.name() + "?ignore_unavailable=true", null);
    }
    theirs.create(set.dimension(), set.metric(), stock, settings);
    settings.put("index.vamana.enabled", "true");
    ours.create(set.dimension(), set.metric(), "hnsw", settings);
    SegmentedIndices made =
        new SegmentedIndices(
            client,
            set,
            progress,
            List.of(
                new Contender(ours, new KeptConnections(node.httpUri(), ours)),
                new Contender(theirs, new KeptConnections(node.httpUri(), theirs))));
    made.fill(segments);
    return made;
  }

  /** Our index and the stock one, in this order. */
  List<Contender> both() {
    return both;
  }

  private void fill(int segments) throws IOException {
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
    int[] done = new int[1];
    try (Progress.Running filling =
        progress.during(
            "indexing " + set.name() + " in " + segments + " segments",
            () -> done[0] / (double) size)) {
      for (int segment = 0; segment < segments; segment++) {
        int to = (int) ((long) size * (segment + 1) / segments);
        while (done[0] < to) {
          int end = Math.min(to, done[0] + BULK_SIZE);
          bulk(done[0], end);
          done[0] = end;
        }
        for (Contender each : both) {
          client.post("/" + each.index().name() + "/_refresh", null);
        }
      }
    }
    if (segments == 1) {
      merge();
    } else {
      finish(segments);
    }
  }

  /** Merges both indices to one segment. */
  void merge() throws IOException {
    for (Contender each : both) {
      try (Progress.Running merging =
          progress.during("merging " + each.index().label() + " to one segment")) {
        each.index().finish();
      }
    }
    finish(1);
  }

  private void bulk(int from, int to) throws IOException {
    StringBuilder lines = new StringBuilder();
    for (int id = from; id < to; id++) {
      KnnIndex.appendDocument(lines, id, set.base().rows()[id]);
    }
    for (Contender each : both) {
      each.index().bulk(lines.toString());
    }
  }

  private void finish(int segments) throws IOException {
    for (Contender each : both) {
      client.post("/" + each.index().name() + "/_flush", null);
      int found = each.index().segments();
      if (found != segments) {
        throw new IllegalStateException(
            each.index().label()
                + " has "
                + found
                + " segments instead of "
                + segments
                + ": if they are more, the vectors of one segment did not fit into the indexing"
                + " buffer; give the node more heap");
      }
    }
  }
}
