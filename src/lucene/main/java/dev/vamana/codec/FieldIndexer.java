package dev.vamana.codec;

import dev.vamana.graph.Adjacency;
import dev.vamana.graph.BuildParameters;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.graph.VamanaGraph;
import dev.vamana.pq.Codebook;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.vectors.Medoid;
import dev.vamana.vectors.ScalarCodes;
import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.IntBuffer;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.codecs.hnsw.FlatVectorsReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.MergeState;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.util.InfoStream;

/**
 * Builds the graph and the codes of one field from its raw vectors, which are already on disk, and
 * writes them. Logs the start and the end of each step to Lucene's info stream, component {@value
 * VamanaVectorsFormat#INFO_COMPONENT}.
 */
final class FieldIndexer {

  // rows that are handed to the output at once: 4 MB of 64 slots
  private static final int ROWS_TOGETHER = 1 << 14;

  private final FieldInfo info;
  private final FlatVectorsReader raw;
  private final Building building;
  private final AbortCheck abort;
  private final InfoStream messages;

  FieldIndexer(
      FieldInfo info,
      FlatVectorsReader raw,
      Building building,
      AbortCheck abort,
      InfoStream messages) {
    this.info = info;
    this.raw = raw;
    this.building = building;
    this.abort = abort;
    this.messages = messages;
  }

  /** Returns a new view of the field's vectors. */
  KnnVectorValues vectors() throws IOException {
    return switch (info.getVectorEncoding()) {
      case BYTE -> raw.getByteVectorValues(info.name);
      case FLOAT32 -> raw.getFloatVectorValues(info.name);
    };
  }

  /**
   * Builds and writes the graph.
   *
   * @param build parameters of the graph
   */
  FieldMetadata.GraphMetadata writeGraph(
      IndexOutput out, BuildParameters build, MergeSources sources) throws IOException {
    try {
      return buildGraph(out, build, sources);
    } catch (Throwable e) {
      building.statistics().ended(e);
      throw e;
    }
  }

  private FieldMetadata.GraphMetadata buildGraph(
      IndexOutput out, BuildParameters build, MergeSources sources) throws IOException {
    KnnVectorValues vectors = vectors();
    long start = System.nanoTime();
    say("build graph of " + info.name + ": " + vectors.size() + " vectors");
    VectorSimilarityFunction similarity = info.getVectorSimilarityFunction();
    float[] mean = Medoid.mean(vectors(), similarity, building.workers(), abort);
    try (VamanaGraph graph =
        ExecutorRegistry.build(
            new GraphTask(
                vectors,
                similarity,
                raw.getFlatVectorScorer(info.name),
                build,
                Medoid.find(vectors(), similarity, mean, building.workers(), abort),
                sources.graphs(vectors.size()),
                building.workers(),
                building.memory(),
                abort))) {
      int stride = StoredAdjacency.stride(graph.maxDegree());
      long offset = out.alignFilePointer(VamanaVectorsFormat.ALIGNMENT);
      long edges = writeRows(out, graph.rows(), stride);
      long length = out.getFilePointer() - offset;
      FieldMetadata.ScalarMetadata scalars = writeScalars(out, vectors, mean, graph.rows());
      int inserted = vectors.size() - graph.reusedNodes();
      long nanos = System.nanoTime() - start;
      building.statistics().graphBuilt(inserted, graph.reusedNodes(), nanos);
      say(
          "built graph of "
              + info.name
              + ": "
              + graph.reusedNodes()
              + " nodes reused, "
              + inserted
              + " inserted, "
              + seconds(nanos));
      return new FieldMetadata.GraphMetadata(
          graph.maxDegree(),
          stride,
          build.beamWidth(),
          build.alpha(),
          build.passes(),
          graph.entryPoint(),
          edges,
          offset,
          length,
          scalars);
    }
  }

  /** Returns null if the field's vectors get no scalar codes. */
  private FieldMetadata.ScalarMetadata writeScalars(
      IndexOutput out, KnnVectorValues vectors, float[] mean, Adjacency graph) throws IOException {
    VectorSimilarityFunction similarity = info.getVectorSimilarityFunction();
    if (ScalarCodes.suit(info.getVectorEncoding(), similarity, info.getVectorDimension())
        == false) {
      return null;
    }
    ScalarWriter writer = new ScalarWriter(vectors, similarity, mean, building.workers(), abort);
    float deviation = writer.deviation(graph);
    if (ScalarCodes.useful(deviation) == false) {
      return null;
    }
    long offset = out.alignFilePointer(VamanaVectorsFormat.ALIGNMENT);
    writer.write(out);
    return new FieldMetadata.ScalarMetadata(offset, out.getFilePointer() - offset, deviation);
  }

  /**
   * Writes the rows, each padded to {@code stride} slots, and returns the number of edges. All
   * threads make the bytes of some rows, which the calling thread writes.
   */
  private long writeRows(IndexOutput out, Adjacency rows, int stride) throws IOException {
    int rowBytes = stride * Integer.BYTES;
    int together = Math.min(rows.size(), ROWS_TOGETHER);
    byte[] bytes = new byte[together * rowBytes];
    IntBuffer numbers = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN).asIntBuffer();
    LongAdder edges = new LongAdder();
    for (long first = 0; first < rows.size(); first += together) {
      int from = (int) first;
      int to = (int) Math.min(rows.size(), first + together);
      building
          .workers()
          .forEachRange(
              from,
              to,
              () -> {
                Adjacency own = copy(rows);
                int[] row = new int[Math.max(stride, rows.maxDegree())];
                return (start, end) -> {
                  for (int ordinal = start; ordinal < end; ordinal++) {
                    int degree = own.neighbors(ordinal, row);
                    edges.add(degree);
                    Arrays.fill(row, degree, stride, StoredAdjacency.UNUSED);
                    numbers.put((ordinal - from) * stride, row, 0, stride);
                  }
                };
              },
              abort);
      out.writeBytes(bytes, 0, (to - from) * rowBytes);
    }
    return edges.sum();
  }

  private static Adjacency copy(Adjacency rows) throws IOException {
    synchronized (rows) {
      return rows.copy();
    }
  }

  /**
   * Builds and writes the graphs of the filter field's values.
   *
   * @param documents of the merged segment
   * @return null if no value has enough vectors
   */
  LabelMetadata writeLabels(IndexOutput out, MergeState merge, int documents) throws IOException {
    long start = System.nanoTime();
    LabelMetadata written =
        new LabelWriter(info, vectors(), raw.getFlatVectorScorer(info.name), building, abort)
            .write(out, merge, documents);
    say(
        "built graphs of "
            + (written == null ? 0 : written.sizes().length)
            + " values of "
            + building.parameters().filterField()
            + " for "
            + info.name
            + ": "
            + seconds(System.nanoTime() - start));
    return written;
  }

  /** Chooses a codebook, and writes the codes and the codebook. */
  FieldMetadata.QuantizationMetadata writeCodes(IndexOutput out, MergeSources sources)
      throws IOException {
    try {
      return quantize(out, sources);
    } catch (Throwable e) {
      building.statistics().ended(e);
      throw e;
    }
  }

  private FieldMetadata.QuantizationMetadata quantize(IndexOutput out, MergeSources sources)
      throws IOException {
    int size = vectors().size();
    long start = System.nanoTime();
    say("quantize " + info.name + ": " + size + " vectors");
    CodebookChoice.Chosen chosen =
        new CodebookChoice(info, vectors(), building, abort).choose(sources);
    Codebook codebook = chosen.codebook();
    long codesOffset = out.alignFilePointer(VamanaVectorsFormat.ALIGNMENT);
    SourceCodes known = sources.codesOf(codebook.id(), size);
    new CodeWriter(codebook, info.getVectorSimilarityFunction(), building.workers(), abort)
        .write(out, vectors(), known);
    long codesLength = out.getFilePointer() - codesOffset;
    long codebookOffset = out.alignFilePointer(VamanaVectorsFormat.ALIGNMENT);
    for (float component : codebook.centroids()) {
      out.writeInt(Float.floatToIntBits(component));
    }
    int encoded = size - known.count();
    long nanos = System.nanoTime() - start;
    building.statistics().quantized(encoded, known.count(), nanos);
    say(
        "quantized "
            + info.name
            + ": "
            + chosen.origin()
            + ", "
            + known.count()
            + " codes copied, "
            + encoded
            + " encoded, "
            + seconds(nanos));
    return new FieldMetadata.QuantizationMetadata(
        codebook.layout().count(),
        codesOffset,
        codesLength,
        codebookOffset,
        out.getFilePointer() - codebookOffset,
        codebook.id());
  }

  private void say(String message) {
    if (messages.isEnabled(VamanaVectorsFormat.INFO_COMPONENT)) {
      messages.message(VamanaVectorsFormat.INFO_COMPONENT, message);
    }
  }

  private static String seconds(long nanos) {
    return String.format(Locale.ROOT, "%.3f s", nanos * 1e-9);
  }
}
