package dev.vamana.codec;

import dev.vamana.graph.ExistingGraph;
import dev.vamana.ivf.CentroidsId;
import dev.vamana.ivf.CodeKind;
import dev.vamana.ivf.InvertedLists;
import dev.vamana.ivf.ListBuilder;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.search.SegmentViews;
import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.MergeState;

/**
 * Finds what a merge can reuse from its source segments: the largest graph, codebooks and codes. A
 * source segment of another format contributes only its vectors.
 */
final class MergeSources {

  static final MergeSources NONE = new MergeSources(List.of());

  // with fewer live nodes a new graph is cheaper than repairing the old one
  private static final double MIN_LIVE_SHARE = 0.5;

  // in a graph of fewer vectors, neighbours are too far from each other to start a search from
  private static final double MIN_JOINED_SHARE = 1.0 / 16;

  private static final int ABORT_INTERVAL = 1 << 12;

  private final List<Source> sources;

  private MergeSources(List<Source> sources) {
    this.sources = sources;
  }

  /** Whether there are sources at all: a merge rather than a flush. */
  boolean isMerge() {
    return this != NONE;
  }

  /**
   * Finds the source segments whose graph or codes the merge can reuse.
   *
   * @param vectors the merged vectors
   * @param maxDoc documents of the merged segment
   * @param abort called regularly
   */
  static MergeSources of(
      FieldInfo info, MergeState mergeState, KnnVectorValues vectors, int maxDoc, AbortCheck abort)
      throws IOException {
    List<Source> sources = new ArrayList<>();
    for (int i = 0; i < mergeState.knnVectorsReaders.length; i++) {
      SegmentField field = segmentField(mergeState.knnVectorsReaders[i], info.name);
      boolean compatible =
          field != null
              && field.encoding() == info.getVectorEncoding()
              && field.similarity() == info.getVectorSimilarityFunction()
              && field.dimension() == info.getVectorDimension()
              && (field.hasGraph() || field.hasLists() || field.codesRegion() != null);
      if (compatible) {
        int[] newOrdinals =
            newOrdinals(field.vectors(), mergeState.docMaps[i], vectors, maxDoc, abort);
        sources.add(new Source(field, newOrdinals));
      }
    }
    sources.sort(Comparator.comparingInt(Source::live).reversed());
    return new MergeSources(sources);
  }

  /** A field of a segment, or null if the field is not in this format. */
  static SegmentField segmentField(KnnVectorsReader reader, String field) {
    KnnVectorsReader fieldReader =
        reader instanceof PerFieldKnnVectorsFormat.FieldsReader perField
            ? perField.getFieldReader(field)
            : reader;
    return fieldReader instanceof SegmentViews views
            && views.view(field) instanceof SegmentField segmentField
        ? segmentField
        : null;
  }

  /**
   * The graphs that the merge joins, the largest first.
   *
   * @param size vectors of the merged segment
   */
  List<ExistingGraph> graphs(int size) throws IOException {
    List<ExistingGraph> graphs = new ArrayList<>();
    for (Source source : sources) {
      if (source.field.hasGraph()
          && source.live >= MIN_LIVE_SHARE * source.field.size()
          && (graphs.isEmpty() || source.live >= MIN_JOINED_SHARE * size)) {
        graphs.add(
            new ExistingGraph(
                source.field.adjacency(),
                source.field.medoid(),
                source.field.metadata().graph().passes(),
                source.newOrdinals));
      }
    }
    return graphs;
  }

  /** The source segment with the most live vectors among those with codes, or null. */
  SegmentField largestWithCodes() {
    for (Source source : sources) {
      if (source.field.codesRegion() != null) {
        return source.field;
      }
    }
    return null;
  }

  /** The source segment with the most live vectors among those with lists, or null. */
  SegmentField largestWithLists() {
    for (Source source : sources) {
      if (source.field.hasLists()) {
        return source.field;
      }
    }
    return null;
  }

  /** The lists of the source segments that have these centroids and this kind of codes. */
  List<ListBuilder.Source> listsOf(CentroidsId centroids, CodeKind kind) {
    List<ListBuilder.Source> found = new ArrayList<>();
    for (Source source : sources) {
      InvertedLists lists = source.field.lists();
      if (lists != null && lists.facts().id().equals(centroids) && lists.shape().kind() == kind) {
        found.add(new ListBuilder.Source(lists, source.newOrdinals));
      }
    }
    return found;
  }

  /** The newest version of the named codebook in the source segments, or null. */
  Codebook newestCodebook(String name) throws IOException {
    SegmentField newest = null;
    for (Source source : sources) {
      CodebookId id = codebookId(source.field);
      boolean newer =
          id != null
              && id.name().equals(name)
              && (newest == null || id.version() > codebookId(newest).version());
      newest = newer ? source.field : newest;
    }
    return newest == null ? null : newest.codebook();
  }

  private static CodebookId codebookId(SegmentField field) {
    FieldMetadata.QuantizationMetadata codes = field.metadata().quantization();
    return codes == null ? null : codes.codebookId();
  }

  /** The codes that the source segments made with this codebook. */
  SourceCodes codesOf(CodebookId codebook, int size) throws IOException {
    SourceCodes codes = null;
    for (Source source : sources) {
      if (codebook.equals(codebookId(source.field))) {
        if (codes == null) {
          codes = SourceCodes.of(size, source.field.metadata().quantization().subspaces());
        }
        codes.add(source.field.codesRegion(), source.newOrdinals);
      }
    }
    return codes == null ? SourceCodes.none() : codes;
  }

  /**
   * A source segment with its ordinals in the merged segment and the number of its live vectors.
   */
  private static final class Source {

    private final SegmentField field;
    // for each ordinal of the source its ordinal in the merged segment, or -1 if deleted
    private final int[] newOrdinals;
    private final int live;

    private Source(SegmentField field, int[] newOrdinals) {
      this.field = field;
      this.newOrdinals = newOrdinals;
      int count = 0;
      for (int newOrdinal : newOrdinals) {
        count += newOrdinal < 0 ? 0 : 1;
      }
      this.live = count;
    }

    int live() {
      return live;
    }
  }

  /**
   * Finds for each ordinal of a source its ordinal in the merged segment, or -1 if it is deleted.
   *
   * @param maxDoc documents of the merged segment
   * @param abort called regularly
   */
  static int[] newOrdinals(
      KnnVectorValues source,
      MergeState.DocMap docMap,
      KnnVectorValues merged,
      int maxDoc,
      AbortCheck abort)
      throws IOException {
    boolean dense = merged.size() == maxDoc;
    int[] newOrdinals = new int[source.size()];
    int next = 0;
    for (int ordinal = 0; ordinal < newOrdinals.length; ordinal++) {
      if (ordinal % ABORT_INTERVAL == 0) {
        abort.check();
      }
      int doc = docMap.get(source.ordToDoc(ordinal));
      if (doc < 0 || dense) {
        newOrdinals[ordinal] = Math.max(doc, -1);
        continue;
      }
      // the live documents of a source follow each other, unless the merge sorts
      boolean follows = next < merged.size() && merged.ordToDoc(next) == doc;
      newOrdinals[ordinal] = follows ? next : ordinalOf(doc, merged);
      next = newOrdinals[ordinal] + 1;
    }
    return newOrdinals;
  }

  private static int ordinalOf(int doc, KnnVectorValues vectors) {
    int low = 0;
    int high = vectors.size() - 1;
    while (low <= high) {
      int middle = (low + high) >>> 1;
      int found = vectors.ordToDoc(middle);
      if (found == doc) {
        return middle;
      }
      if (found < doc) {
        low = middle + 1;
      } else {
        high = middle - 1;
      }
    }
    throw new IllegalStateException("document " + doc + " has no vector in the merged segment");
  }
}
