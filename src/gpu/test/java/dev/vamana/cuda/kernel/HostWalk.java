package dev.vamana.cuda.kernel;

import dev.vamana.cuda.kernel.WalkLayouts.ResultLayout;
import dev.vamana.cuda.kernel.WalkLayouts.SegmentLayout;
import dev.vamana.cuda.kernel.WalkLayouts.WalkLayout;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.Bits;

/**
 * One launch of a walk kernel on the host: segments and items in native memory, in the layout that
 * the executor uses for a device.
 */
final class HostWalk implements AutoCloseable {

  private final HostLibrary host;
  private final Policy policy;
  private final Arena arena = Arena.ofConfined();
  private final List<WorkItem> items = new ArrayList<>();
  private final List<NativeStruct> blocks = new ArrayList<>();
  private final List<NativeStruct> segments = new ArrayList<>();
  private final List<MemorySegment> results = new ArrayList<>();
  private final NativeStruct walk;
  private boolean raw = true;
  private boolean wholeCopies = true;
  private boolean limited;

  HostWalk(HostLibrary host, Policy policy) {
    this.host = host;
    this.policy = policy;
    this.walk = new NativeStruct("Walk", arena).set("visited_slots", 1 << 16);
  }

  /** Hits as the kernel wrote them. */
  record Hits(int[] ordinals, float[] scores, int visited, int flags, int iterations) {}

  /** Segments added from now on have no raw vectors for re-ranking. */
  HostWalk withoutRawVectors() {
    raw = false;
    return this;
  }

  /** Segments added from now on do not tell that their copies in bytes are the vectors. */
  HostWalk withoutWholeCopies() {
    wholeCopies = false;
    return this;
  }

  /** The launch's parameter. */
  NativeStruct walk() {
    return walk;
  }

  /** The parameter block of an item's segment. */
  NativeStruct segment(int index) {
    return segments.get(index);
  }

  HostWalk add(WorkItem item) {
    GeneratedSegment segment = (GeneratedSegment) item.segment();
    NativeStruct block = new NativeStruct("Item", arena);
    int k = Math.min(item.k(), segment.size());
    boolean expanded = item.walk().rerankDepth() == WalkParameters.RERANK_EXPANDED;
    int depth = expanded ? -1 : item.walk().rerankDepth(k);
    int capacity = raw ? k : Math.max(k, depth);
    MemorySegment result = arena.allocate(ResultLayout.bytes(capacity), 16);
    result.fill((byte) 0xEE);
    NativeStruct copy = copy(segment);
    segments.add(copy);
    results.add(result);
    items.add(item);
    blocks.add(block);
    block
        .set("segment", copy.memory())
        .set("query", query(item))
        .set("accepted", accepted(item.acceptedOrdinals()))
        .set("entry_points", ints(item.entryPoints()))
        .set("result", result)
        .set("entry_count", item.entryPoints().length)
        .set("k", k)
        .set("beam", item.effectiveBeamWidth())
        .set("parents", item.walk().parents())
        .set("rerank", depth)
        .set("visit_limit", Limits.visits(item.visitLimit(), segment.size()))
        .set("capacity", capacity);
    limited |= block.get("visit_limit") != Limits.NO_VISIT_LIMIT;
    atLeast("list_capacity", item.effectiveBeamWidth());
    int row = stride(segment) * item.walk().parents();
    atLeast("fresh_capacity", (Math.max(row, item.entryPoints().length + 1) + 31) / 32 * 32);
    atLeast("dimension", segment.dimension());
    atLeast("subspaces", policy.quantized() ? segment.codebook().layout().count() : 0);
    atLeast("expanded_capacity", expanded ? segment.size() : 0);
    return this;
  }

  private void atLeast(String field, int value) {
    walk.set(field, Math.max(walk.get(field), value));
  }

  private static int stride(GeneratedSegment segment) {
    return (segment.maxDegree() + 3) / 4 * 4;
  }

  private static int up16(int value) {
    return (value + 15) / 16 * 16;
  }

  private NativeStruct copy(GeneratedSegment segment) {
    boolean bytes = segment.encoding() == VectorEncoding.BYTE;
    int stride = stride(segment);
    MemorySegment graph = arena.allocate(4L * stride * segment.size(), 16);
    graph.fill((byte) 0xFF);
    for (int i = 0; i < segment.size(); i++) {
      MemorySegment.copy(
          segment.row(i), 0, graph, ValueLayout.JAVA_INT, 4L * stride * i, segment.row(i).length);
    }
    NativeStruct copy =
        new NativeStruct("Segment", arena)
            .set("graph", graph)
            .set("size", segment.size())
            .set("dimension", segment.dimension())
            .set("graph_stride", stride)
            .set("medoid", segment.medoid())
            .set("similarity", segment.similarity().ordinal())
            .set("byte_scoring", bytes ? 1 : 0);
    if (raw) {
      // rows as they are in a file, without padding
      int width = segment.dimension() * (bytes ? 1 : 4);
      copy.set("raw", rows(segment, bytes ? Policy.EXACT_BYTE : Policy.EXACT_F32, width))
          .set("raw_stride", width)
          .set("raw_format", bytes ? SegmentLayout.FORMAT_BYTE : SegmentLayout.FORMAT_FLOAT32);
    }
    if (policy.quantized()) {
      copyCodes(segment, copy);
    } else if (policy == Policy.EXACT_BYTE && bytes == false) {
      copyBytes(segment, copy);
    } else {
      int component = policy == Policy.EXACT_F32 ? 4 : policy == Policy.EXACT_F16 ? 2 : 1;
      int width = up16(segment.dimension() * component);
      copy.set("vectors", rows(segment, policy, width))
          .set("vector_stride", width)
          .set("vector_format", policy.ordinal());
    }
    return copy;
  }

  /** Copies in bytes of float vectors, which are exact if components are integers. */
  private void copyBytes(GeneratedSegment segment, NativeStruct copy) {
    int dimension = segment.dimension();
    int width = up16(dimension);
    MemorySegment target = arena.allocate((long) width * segment.size(), 16);
    MemorySegment facts = arena.allocate(8L * segment.size(), 16);
    MemorySegment center = arena.allocate(4L * dimension, 16);
    for (int d = 0; d < dimension; d++) {
      center.setAtIndex(ValueLayout.JAVA_FLOAT, d, d % 7 - 3);
    }
    NativeStruct result = new NativeStruct("RangeResult", arena);
    NativeStruct convert =
        new NativeStruct("Convert", arena)
            .set("source", rows(segment, Policy.EXACT_F32, 4 * dimension))
            .set("target", target)
            .set("rows", segment.size())
            .set("dimension", dimension)
            .set("source_stride", 4 * dimension)
            .set("target_stride", width)
            .set("unit", segment.similarity() == VectorSimilarityFunction.COSINE ? 1 : 0)
            .set("center", center)
            .set("facts", facts)
            .set("result", result.memory());
    SimtKernels.load().find("convert_byte").run(2, 256, 0, convert.memory());
    boolean whole =
        wholeCopies
            && segment.similarity() == VectorSimilarityFunction.EUCLIDEAN
            && result.get("flags") == 0;
    copy.set("vectors", target)
        .set("vector_stride", width)
        .set("vector_format", policy.ordinal())
        .set("vector_facts", facts)
        .set("vector_center", center)
        .set("whole_copies", whole ? 1 : 0);
  }

  /** Vectors in a format. */
  private MemorySegment rows(GeneratedSegment segment, Policy format, int width) {
    boolean bytes = segment.encoding() == VectorEncoding.BYTE;
    MemorySegment rows = arena.allocate((long) width * segment.size(), 16);
    for (int i = 0; i < segment.size(); i++) {
      for (int d = 0; d < segment.dimension(); d++) {
        float component = bytes ? segment.byteVector(i)[d] : segment.vector(i)[d];
        long row = (long) width * i;
        switch (format) {
          case EXACT_F32 -> rows.set(ValueLayout.JAVA_FLOAT, row + 4L * d, component);
          case EXACT_F16 ->
              rows.set(ValueLayout.JAVA_SHORT, row + 2L * d, Float.floatToFloat16(component));
          default -> rows.set(ValueLayout.JAVA_BYTE, row + d, (byte) component);
        }
      }
    }
    return rows;
  }

  private void copyCodes(GeneratedSegment segment, NativeStruct copy) {
    Codebook codebook = segment.codebook();
    SubspaceLayout layout = codebook.layout();
    int width = up16(layout.count());
    MemorySegment codes = arena.allocate((long) width * segment.size(), 16);
    for (int i = 0; i < segment.size(); i++) {
      MemorySegment.copy(
          segment.codes(),
          i * layout.count(),
          codes,
          ValueLayout.JAVA_BYTE,
          (long) width * i,
          layout.count());
    }
    MemorySegment columns = arena.allocate(4L * Codebook.CENTROIDS * layout.dims(), 16);
    MemorySegment norms = arena.allocate(4L * layout.count(), 16);
    int at = 0;
    for (int s = 0; s < layout.count(); s++) {
      double largest = 0;
      for (int c = 0; c < Codebook.CENTROIDS; c++) {
        double norm2 = 0;
        for (int d = layout.offset(s); d < layout.offset(s) + layout.length(s); d++, at++) {
          float component = codebook.centroids()[at];
          norm2 += (double) component * component;
          columns.setAtIndex(ValueLayout.JAVA_FLOAT, (long) d * Codebook.CENTROIDS + c, component);
        }
        largest = Math.max(largest, Math.sqrt(norm2));
      }
      norms.setAtIndex(ValueLayout.JAVA_FLOAT, s, (float) largest);
    }
    copy.set("codes", codes)
        .set("code_stride", width)
        .set("subspaces", layout.count())
        .set("columns", columns)
        .set("centroid_norms", norms);
  }

  private MemorySegment query(WorkItem item) {
    MemorySegment query = arena.allocate(4L * item.query().dimension(), 16);
    if (item.query().floats() != null) {
      query.copyFrom(MemorySegment.ofArray(item.query().floats()));
    } else {
      query.copyFrom(MemorySegment.ofArray(item.query().bytes()));
    }
    return query;
  }

  private MemorySegment accepted(Bits accepted) {
    if (accepted == null) {
      return null;
    }
    MemorySegment words = arena.allocate(8L * (accepted.length() / 64 + 1), 8);
    for (int i = 0; i < accepted.length(); i++) {
      if (accepted.get(i)) {
        long word = words.getAtIndex(ValueLayout.JAVA_LONG, i / 64);
        words.setAtIndex(ValueLayout.JAVA_LONG, i / 64, word | 1L << (i % 64));
      }
    }
    return words;
  }

  private MemorySegment ints(int[] values) {
    MemorySegment memory = arena.allocate(4L * values.length + 4, 16);
    MemorySegment.copy(values, 0, memory, ValueLayout.JAVA_INT, 0, values.length);
    return memory;
  }

  /** Launches the kernel for blocks of so many warps. */
  List<Hits> run(int warps) {
    MemorySegment addresses = arena.allocate(8L * items.size() + 8, 16);
    for (int i = 0; i < blocks.size(); i++) {
      addresses.setAtIndex(ValueLayout.JAVA_LONG, i, blocks.get(i).memory().address());
    }
    boolean one = items.size() == 1;
    walk.set("items", one ? blocks.get(0).memory() : addresses)
        .set("count", items.size())
        .set(
            "flags",
            (one ? WalkLayout.FLAG_SIDE_BY_SIDE : 0) | (limited ? WalkLayout.FLAG_LIMITED : 0));
    int[] offsets = new int[7];
    host.vamana_shared_layout(policy.ordinal(), HostLibrary.pointer(walk.memory()), offsets);
    long scratch = host.vamana_scratch_bytes(policy.ordinal(), HostLibrary.pointer(walk.memory()));
    walk.set("scratch", arena.allocate(scratch + 16, 256)).set("scratch_stride", scratch);
    walk.set("counter", arena.allocate(4, 4));
    SimtKernels.load().find(policy.kernelName(warps)).run(1, 32 * warps, offsets[6], walk.memory());
    List<Hits> hits = new ArrayList<>();
    for (int i = 0; i < items.size(); i++) {
      hits.add(read(results.get(i), blocks.get(i).get("capacity")));
    }
    return hits;
  }

  private static Hits read(MemorySegment result, int capacity) {
    int count = result.get(ValueLayout.JAVA_INT, ResultLayout.COUNT);
    int[] ordinals = new int[count];
    float[] scores = new float[count];
    for (int i = 0; i < count; i++) {
      ordinals[i] = result.get(ValueLayout.JAVA_INT, ResultLayout.ordinals() + 4L * i);
      scores[i] = result.get(ValueLayout.JAVA_FLOAT, ResultLayout.scores(capacity) + 4L * i);
    }
    return new Hits(
        ordinals,
        scores,
        result.get(ValueLayout.JAVA_INT, ResultLayout.VISITED),
        result.get(ValueLayout.JAVA_INT, ResultLayout.FLAGS),
        result.get(ValueLayout.JAVA_INT, ResultLayout.ITERATIONS));
  }

  @Override
  public void close() {
    arena.close();
  }
}
