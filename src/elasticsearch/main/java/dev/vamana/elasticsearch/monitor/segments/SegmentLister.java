package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.codec.SegmentFacts;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FilterCodecReader;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SegmentReader;
import org.apache.lucene.index.VectorSimilarityFunction;

/** Lists the vector fields of a shard's segments. */
final class SegmentLister {

  /** A segment below the graph threshold, which has no graph and is scanned. */
  private static final DevicePresence NO_GRAPH = DevicePresence.refused("no graph");

  /** A segment with inverted lists, which are searched on the CPU. */
  private static final DevicePresence LISTS = DevicePresence.refused("lists");

  /** A segment with a graph on a node without a device, where nothing is wrong. */
  private static final DevicePresence CPU = DevicePresence.refused("cpu");

  /** A field in another format. */
  private static final DevicePresence STOCK = DevicePresence.refused("stock");

  // keys of the map in which Lucene's readers report the sizes of their files
  private static final String LUCENE_VECTORS = "vec";
  private static final String LUCENE_GRAPH = "vex";

  private SegmentLister() {}

  /**
   * Lists the fields in this plugin's format, and accelerated ones in stock formats.
   *
   * @param reader the reader, which may be wrapped; fields that the wrapper hides are left out
   * @param stock whether to list all other fields, too
   */
  static List<FieldSegment> list(IndexReader reader, boolean stock) throws IOException {
    List<FieldSegment> rows = new ArrayList<>();
    for (LeafReaderContext leaf : reader.leaves()) {
      String segment = name(leaf);
      Map<String, SegmentFacts> ours = new HashMap<>();
      CodecReader codec = codecReader(leaf.reader());
      if (codec != null) {
        SegmentFacts.of(codec).forEach(facts -> ours.put(facts.field(), facts));
      }
      for (FieldInfo info : leaf.reader().getFieldInfos()) {
        SegmentFacts facts = ours.get(info.name);
        FieldSegment row =
            facts != null ? ours(segment, facts) : stock(segment, info, leaf.reader(), stock);
        if (row != null) {
          rows.add(row);
        }
      }
    }
    return rows;
  }

  /** Whether a segment of the reader has a field in this plugin's format. */
  static boolean anyOurs(IndexReader reader) {
    for (LeafReaderContext leaf : reader.leaves()) {
      CodecReader codec = codecReader(leaf.reader());
      if (codec != null && SegmentFacts.of(codec).isEmpty() == false) {
        return true;
      }
    }
    return false;
  }

  private static CodecReader codecReader(LeafReader reader) {
    return FilterLeafReader.unwrap(reader) instanceof CodecReader codec
        ? FilterCodecReader.unwrap(codec)
        : null;
  }

  private static String name(LeafReaderContext leaf) {
    return codecReader(leaf.reader()) instanceof SegmentReader segment
        ? segment.getSegmentName()
        : "leaf_" + leaf.ord;
  }

  private static FieldSegment ours(String segment, SegmentFacts facts) {
    return new FieldSegment(
        new SegmentReport(
            segment,
            facts.field(),
            facts.vectors(),
            presence(facts.view()),
            facts.view().fileChecks().damaged()),
        true,
        facts.dimension(),
        similarity(facts.similarity()),
        facts.vectorBytes(),
        facts.graphBytes(),
        facts.codeBytes(),
        facts.codebook(),
        facts.codebookVersion());
  }

  private static DevicePresence presence(SegmentView view) {
    SearchExecutor executor = ExecutorRegistry.current();
    DevicePresence presence = executor == null ? null : executor.presence(view);
    if (view.isIndexed() == false) {
      boolean away = presence == null || presence.state() == DevicePresence.State.REFUSED;
      return away ? NO_GRAPH : presence;
    }
    return presence != null ? presence : view.hasLists() ? LISTS : CPU;
  }

  /**
   * Describes a field in another format; returns null if it has no vectors in this segment.
   *
   * @param others whether fields that no executor searches are wanted, too
   */
  private static FieldSegment stock(
      String segment, FieldInfo info, LeafReader reader, boolean others) throws IOException {
    SegmentView accelerated = info.hasVectorValues() ? SegmentViews.of(reader, info.name) : null;
    if (accelerated == null && (others == false || info.hasVectorValues() == false)) {
      return null;
    }
    DevicePresence presence = accelerated == null ? STOCK : presence(accelerated);
    KnnVectorValues vectors =
        switch (info.getVectorEncoding()) {
          case BYTE -> reader.getByteVectorValues(info.name);
          case FLOAT32 -> reader.getFloatVectorValues(info.name);
        };
    if (vectors == null || vectors.size() == 0) {
      return null;
    }
    CodecReader codec = codecReader(reader);
    KnnVectorsReader files = codec == null ? null : codec.getVectorReader();
    Map<String, Long> sizes = files == null ? Map.of() : files.getOffHeapByteSize(info);
    long graph = sizes.getOrDefault(LUCENE_GRAPH, 0L);
    long raw = sizes.getOrDefault(LUCENE_VECTORS, 0L);
    long all = sizes.values().stream().mapToLong(Long::longValue).sum();
    long bytes =
        (long) vectors.size() * info.getVectorDimension() * info.getVectorEncoding().byteSize;
    return new FieldSegment(
        new SegmentReport(segment, info.name, vectors.size(), presence, List.of()),
        false,
        info.getVectorDimension(),
        similarity(info.getVectorSimilarityFunction()),
        bytes,
        graph,
        all - raw - graph,
        null,
        0);
  }

  /** The similarity's name in mappings. */
  private static String similarity(VectorSimilarityFunction function) {
    return switch (function) {
      case EUCLIDEAN -> "l2_norm";
      case DOT_PRODUCT -> "dot_product";
      case COSINE -> "cosine";
      case MAXIMUM_INNER_PRODUCT -> "max_inner_product";
    };
  }
}
