package dev.vamana.codec;

import dev.vamana.graph.SubsetGraphs;
import dev.vamana.search.LabelGraphs;
import dev.vamana.vectors.PairDistanceFactory;
import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.codecs.hnsw.FlatVectorsScorer;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.MergeState;
import org.apache.lucene.store.IndexOutput;

/**
 * Builds and writes {@link LabelGraphs} in a merge: a graph for each value of the filter field that
 * has enough vectors. The vectors without a value, and those with the same several values, get
 * graphs in the same way.
 */
final class LabelWriter {

  private final FieldInfo info;
  private final KnnVectorValues vectors;
  private final FlatVectorsScorer scorer;
  private final Building building;
  private final AbortCheck abort;

  LabelWriter(
      FieldInfo info,
      KnnVectorValues vectors,
      FlatVectorsScorer scorer,
      Building building,
      AbortCheck abort) {
    this.info = info;
    this.vectors = vectors;
    this.scorer = scorer;
    this.building = building;
    this.abort = abort;
  }

  /** Returns null if no value has enough vectors, or scores are too coarse for the field. */
  LabelMetadata write(IndexOutput out, MergeState merge, int documents) throws IOException {
    VamanaParameters parameters = building.parameters();
    int[] labels = byOrdinal(LabelKeys.of(merge, parameters.filterField(), documents, abort));
    int[][] members = number(labels, parameters.valueThreshold(info.getVectorDimension()));
    if (members.length == 0) {
      return null;
    }
    PairDistanceFactory distances =
        new PairDistanceFactory(
            scorer, info.getVectorSimilarityFunction(), vectors, building.workers(), abort);
    if (distances.raw()) {
      return null;
    }
    try (SubsetGraphs graphs =
        new SubsetGraphs(
            distances,
            members,
            parameters.buildOfValue(),
            building.workers(),
            building.memory(),
            abort)) {
      long offset = out.alignFilePointer(VamanaVectorsFormat.ALIGNMENT);
      graphs.write(out);
      int[] sizes = Arrays.stream(members).mapToInt(ordinals -> ordinals.length).toArray();
      LabelGraphs.write(out, labels, sizes);
      return new LabelMetadata(
          graphs.edges(), offset, out.getFilePointer() - offset, sizes, graphs.entryPoints());
    }
  }

  private int[] byOrdinal(int[] ofDocuments) {
    int[] keys = new int[vectors.size()];
    for (int ordinal = 0; ordinal < keys.length; ordinal++) {
      keys[ordinal] = ofDocuments[vectors.ordToDoc(ordinal)];
    }
    return keys;
  }

  /**
   * Replaces the key of each vector by the number of its graph, and returns the vectors of each
   * graph.
   */
  private static int[][] number(int[] keys, int threshold) {
    int[] sorted = keys.clone();
    Arrays.sort(sorted);
    // a key of most vectors gets no graph: the segment's own is not much slower
    int most = keys.length / 2;
    int[] large = new int[keys.length / Math.max(1, threshold) + 1];
    int count = 0;
    for (int from = 0, to; from < sorted.length; from = to) {
      to = from + 1;
      while (to < sorted.length && sorted[to] == sorted[from]) {
        to++;
      }
      if (to - from >= Math.max(2, threshold) && to - from <= most) {
        large[count++] = sorted[from];
      }
    }
    int[] sizes = new int[count];
    for (int ordinal = 0; ordinal < keys.length; ordinal++) {
      int found = Arrays.binarySearch(large, 0, count, keys[ordinal]);
      keys[ordinal] = found < 0 ? LabelGraphs.NONE : found;
      if (found >= 0) {
        sizes[found]++;
      }
    }
    int[][] members = new int[count][];
    Arrays.setAll(members, i -> new int[sizes[i]]);
    for (int ordinal = keys.length - 1; ordinal >= 0; ordinal--) {
      if (keys[ordinal] != LabelGraphs.NONE) {
        members[keys[ordinal]][--sizes[keys[ordinal]]] = ordinal;
      }
    }
    return members;
  }
}
