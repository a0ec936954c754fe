package dev.vamana.cuda.hostfetch;

import dev.vamana.graph.StoredAdjacency;
import dev.vamana.search.SegmentView;
import dev.vamana.vectors.ArrayCopy;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.IndexInput;

/**
 * Copies adjacency rows and raw vectors of a segment, by several threads: from the mapped files or,
 * if they are not mapped, through one input per thread.
 */
final class SegmentFiles {

  private final SegmentView view;
  private final FileRegion graph;
  private final MemorySegment mappedGraph;
  private final MemorySegment mappedVectors;
  private final int rowBytes;
  private final int vectorBytes;
  private final IndexInput[] inputs;
  private final KnnVectorValues[] values;
  private final byte[][] buffers;

  /**
   * Opens a segment.
   *
   * @param workers number of threads that will copy
   */
  SegmentFiles(SegmentView view, FetchShape shape, int workers) throws IOException {
    this.view = view;
    this.graph = view.graphRegion();
    this.mappedGraph = graph.segment();
    FileRegion vectors = view.vectorsRegion();
    this.rowBytes = StoredAdjacency.stride(view.maxDegree()) * Integer.BYTES;
    this.vectorBytes = shape.vectorBytes();
    boolean whole = vectors != null && vectors.length() == (long) view.size() * vectorBytes;
    this.mappedVectors = whole ? vectors.segment() : null;
    this.inputs = new IndexInput[workers];
    this.values = new KnnVectorValues[workers];
    this.buffers = new byte[workers][];
  }

  int size() {
    return view.size();
  }

  /** Copies a node's adjacency row. */
  void copyRow(int ordinal, MemorySegment target, long at, int worker) throws IOException {
    long start = (long) ordinal * rowBytes;
    if (mappedGraph != null) {
      copy(mappedGraph, start, target, at, rowBytes);
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

  /** Copies a node's raw vector. */
  void copyVector(int ordinal, MemorySegment target, long at, int worker) throws IOException {
    if (mappedVectors != null) {
      copy(mappedVectors, (long) ordinal * vectorBytes, target, at, vectorBytes);
      return;
    }
    if (values[worker] == null) {
      values[worker] = view.vectors();
    }
    if (values[worker] instanceof FloatVectorValues floats) {
      float[] vector = floats.vectorValue(ordinal);
      ArrayCopy.toMemory(vector, 0, target, at, vector.length);
    } else {
      byte[] vector = ((ByteVectorValues) values[worker]).vectorValue(ordinal);
      ArrayCopy.toMemory(vector, 0, target, at, vector.length);
    }
  }

  private void copy(MemorySegment from, long start, MemorySegment target, long at, int bytes) {
    try {
      MemorySegment.copy(from, start, target, at, bytes);
    } catch (IllegalStateException e) {
      throw new AlreadyClosedException("the files of " + view.name() + " were closed", e);
    }
  }
}
