package dev.vamana.tools.cells;

import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.demo.Progress;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/** Our index and the stock one over the same vectors, with as many segments. */
final class SegmentedIndices {

  private final RunningNode node;
  private final VectorSet set;
  private final Progress progress;
  private final List<Contender> both;

  private SegmentedIndices(
      RunningNode node, VectorSet set, Progress progress, List<Contender> both) {
    this.node = node;
    this.set = set;
    this.progress = progress;
    this.both = both;
  }

  /**
   * The indices of a node, which need not exist yet.
   *
   * @param stock type of the stock index
   */
  static SegmentedIndices of(RunningNode node, VectorSet set, String stock, Progress progress)
      throws IOException {
    KnnIndex ours = new KnnIndex(node.client(), "cells-vamana", "vamana");
    KnnIndex theirs = new KnnIndex(node.client(), "cells-stock", stock);
    return new SegmentedIndices(
        node,
        set,
        progress,
        List.of(
            new Contender(ours, new KeptConnections(node.httpUri(), ours)),
            new Contender(theirs, new KeptConnections(node.httpUri(), theirs))));
  }

  /**
   * Creates and fills both indices. Indices of an earlier call are deleted.
   *
   * @param segments segments of each
   */
  void fill(int segments) throws IOException {
    KnnIndex ours = both.get(0).index();
    KnnIndex theirs = both.get(1).index();
    segmented(theirs).create(theirs.label(), Map.of());
    segmented(ours).create("hnsw", Map.of("index.vamana.enabled", "true"));
    for (KnnIndex index : List.of(ours, theirs)) {
      long[] done = new long[1];
      try (Progress.Running filling =
          progress.during(
              "indexing " + set.name() + " in " + segments + " segments, " + index.label(),
              () -> done[0] / (double) set.base().size())) {
        segmented(index).fill(segments, count -> done[0] = count);
      }
    }
  }

  /** Checks that a node that was started again holds all vectors in so many segments. */
  void check(int segments) throws IOException {
    for (Contender each : both) {
      if (segmented(each.index()).isThere(segments) == false) {
        throw new IllegalStateException(
            each.index().name()
                + " has other segments than the "
                + segments
                + " it was filled with");
      }
    }
  }

  private SegmentedIndex segmented(KnnIndex index) {
    return new SegmentedIndex(node.client(), set, index);
  }

  /** Our index and the stock one, in this order. */
  List<Contender> both() {
    return both;
  }

  /** Merges both indices to one segment. */
  void merge() throws IOException {
    for (Contender each : both) {
      try (Progress.Running merging =
          progress.during("merging " + each.index().label() + " to one segment")) {
        segmented(each.index()).merge();
      }
    }
  }
}
