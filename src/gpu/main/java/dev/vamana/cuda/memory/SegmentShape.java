package dev.vamana.cuda.memory;

import dev.vamana.ivf.InvertedLists;
import dev.vamana.ivf.ListShape;
import dev.vamana.search.SegmentView;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.apache.lucene.index.VectorEncoding;

/**
 * The properties of a segment that determine its possible placements.
 *
 * @param size number of vectors, at least 1
 * @param dimension components of a vector, 1 to 4,096
 * @param encoding type of the components
 * @param graphStride slots of an adjacency row; 0 without a graph
 * @param subspaces bytes of a code; 0 without codes
 * @param rawVectors whether the raw vectors are one range of a file
 * @param graphMapped whether the device could read the graph in place: it is mapped as one range,
 *     and its rows start at multiples of 16 bytes
 * @param vectorsMapped whether the device could read the raw vectors in place
 * @param lists sizes of the inverted lists; null without lists
 * @param listBytes bytes of the inverted lists in the file; 0 without lists
 */
record SegmentShape(
    int size,
    int dimension,
    VectorEncoding encoding,
    int graphStride,
    int subspaces,
    boolean rawVectors,
    boolean graphMapped,
    boolean vectorsMapped,
    ListShape lists,
    long listBytes) {

  private static final int ROW_ALIGNMENT = 16;

  /** Returns the shape of an open segment. */
  static SegmentShape of(SegmentView view) throws IOException {
    FileRegion graph = view.graphRegion();
    FileRegion codes = view.codesRegion();
    FileRegion vectors = view.vectorsRegion();
    InvertedLists lists = view.lists();
    int size = view.size();
    return new SegmentShape(
        size,
        view.dimension(),
        view.encoding(),
        graph == null ? 0 : rowBytes(view, "graph", graph) / Integer.BYTES,
        codes == null ? 0 : rowBytes(view, "codes", codes),
        vectors != null,
        graph != null && mapped(graph, ROW_ALIGNMENT),
        vectors != null && mapped(vectors, componentBytes(view.encoding())),
        lists == null ? null : lists.shape(),
        lists == null ? 0 : lists.region().length());
  }

  private static int rowBytes(SegmentView view, String what, FileRegion region) {
    int size = view.size();
    if (size < 1 || region.length() % size != 0) {
      throw new IllegalArgumentException(
          what + " of " + view.name() + ": " + region + " is not " + size + " rows");
    }
    return Math.toIntExact(region.length() / size);
  }

  private static boolean mapped(FileRegion region, int alignment) {
    MemorySegment segment = region.segment();
    return segment != null && segment.isNative() && segment.address() % alignment == 0;
  }

  /** Bytes of a component in the file. */
  static int componentBytes(VectorEncoding encoding) {
    return encoding == VectorEncoding.FLOAT32 ? Float.BYTES : Byte.BYTES;
  }

  /** Bytes of a raw vector in the file. */
  int vectorBytes() {
    return dimension * componentBytes(encoding);
  }

  /** Bytes of all adjacency rows. */
  long graphBytes() {
    return (long) size * graphStride * Integer.BYTES;
  }

  /** Bytes of all raw vectors in the file. */
  long rawBytes() {
    return (long) size * vectorBytes();
  }

  /** Whether vectors are float32. */
  boolean floats() {
    return encoding == VectorEncoding.FLOAT32;
  }

  /** Whether the segment has a graph. */
  boolean hasGraph() {
    return graphStride > 0;
  }

  /** Whether the segment has inverted lists. */
  boolean hasLists() {
    return lists != null;
  }

  /** Whether the segment has codes. */
  boolean hasCodes() {
    return subspaces > 0;
  }
}
