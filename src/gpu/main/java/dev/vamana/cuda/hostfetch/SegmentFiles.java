package dev.vamana.cuda.hostfetch;

import dev.vamana.graph.StoredAdjacency;
import dev.vamana.search.SegmentView;
import dev.vamana.vectors.ArrayCopy;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.IndexInput;

/**
 * Copies adjacency rows of a segment, by several threads: from the mapped file or, if it is not
 * mapped, through one input per thread.
 */
final class SegmentFiles {

  private final SegmentView view;
  private final FileRegion graph;
  private final MemorySegment mappedGraph;
  private final int rowBytes;
  private final IndexInput[] inputs;
  private final byte[][] buffers;

  /**
   * Opens a segment.
   *
   * @param workers number of threads that will copy
   */
  SegmentFiles(SegmentView view, int workers) throws IOException {
    this.view = view;
    this.graph = view.graphRegion();
    this.mappedGraph = graph.segment();
    this.rowBytes = StoredAdjacency.stride(view.maxDegree()) * Integer.BYTES;
    this.inputs = new IndexInput[workers];
    this.buffers = new byte[workers][];
  }

  int size() {
    return view.size();
  }

  /** Copies a node's adjacency row. */
  void copyRow(int ordinal, MemorySegment target, long at, int worker) throws IOException {
    long start = (long) ordinal * rowBytes;
    if (mappedGraph != null) {
      try {
        MemorySegment.copy(mappedGraph, start, target, at, rowBytes);
      } catch (IllegalStateException e) {
        throw new AlreadyClosedException("the files of " + view.name() + " were closed", e);
      }
      return;
    }
    if (inputs[worker] == null) {
      inputs[worker] = graph.open();
      buffers[worker] = new byte[rowBytes];
    }
    inputs[worker].seek(start);
    inputs[worker].readBytes(buffers[worker], 0, rowBytes);
    ArrayCopy.toMemory(buffers[worker], 0, target, at, rowBytes);
  }
}
