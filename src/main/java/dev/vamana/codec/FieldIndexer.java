package dev.vamana.codec;

import dev.vamana.graph.Adjacency;
import dev.vamana.graph.BuildParameters;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.graph.VamanaBuilder;
import dev.vamana.graph.VamanaGraph;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookFit;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.PqTrainer;
import dev.vamana.vectors.Medoid;
import dev.vamana.vectors.PairDistanceFactory;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Locale;
import org.apache.lucene.codecs.hnsw.FlatVectorsReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.util.InfoStream;

/**
 * Builds and writes the graph and the codes of one field from its raw vectors, which have been
 * written already. Says so on Lucene's info stream, component {@value #INFO_COMPONENT}, with a line
 * before and a line after each.
 */
final class FieldIndexer {

  /** Component of Lucene's info stream that is told when the long steps begin and end. */
  static final String INFO_COMPONENT = "VAMANA";

  private static final long TRAINING_SEED = 42;

  private static final int ROWS_PER_ABORT_CHECK = 1 << 12;

  private final FieldInfo info;
  private final FlatVectorsReader raw;
  private final VamanaParameters parameters;
  private final Workers workers;
  private final AbortCheck abort;
  private final InfoStream messages;

  FieldIndexer(
      FieldInfo info,
      FlatVectorsReader raw,
      VamanaParameters parameters,
      Workers workers,
      AbortCheck abort,
      InfoStream messages) {
    this.info = info;
    this.raw = raw;
    this.parameters = parameters;
    this.workers = workers;
    this.abort = abort;
    this.messages = messages;
  }

  /** The field's vectors, a new view at each call. */
  KnnVectorValues vectors() throws IOException {
    return switch (info.getVectorEncoding()) {
      case BYTE -> raw.getByteVectorValues(info.name);
      case FLOAT32 -> raw.getFloatVectorValues(info.name);
    };
  }

  /**
   * Builds and writes the graph.
   *
   * @param build how it is built
   */
  FieldMetadata.GraphMetadata writeGraph(
      IndexOutput out, BuildParameters build, MergeSources sources) throws IOException {
    KnnVectorValues vectors = vectors();
    long start = System.nanoTime();
    say("build graph of " + info.name + ": " + vectors.size() + " vectors");
    PairDistanceFactory distances =
        new PairDistanceFactory(
            raw.getFlatVectorScorer(info.name), info.getVectorSimilarityFunction(), vectors);
    int medoid = Medoid.find(vectors(), info.getVectorSimilarityFunction());
    VamanaGraph graph =
        new VamanaBuilder(distances, build, workers, abort).build(medoid, sources.largestGraph());
    int stride = StoredAdjacency.stride(graph.maxDegree());
    long offset = out.alignFilePointer(VamanaVectorsFormat.ALIGNMENT);
    long edges = writeRows(out, graph.rows(), stride);
    say(
        "built graph of "
            + info.name
            + ": "
            + graph.reusedNodes()
            + " nodes reused, "
            + (vectors.size() - graph.reusedNodes())
            + " inserted, "
            + elapsed(start));
    return new FieldMetadata.GraphMetadata(
        graph.maxDegree(),
        stride,
        build.beamWidth(),
        build.alpha(),
        build.passes(),
        graph.entryPoint(),
        edges,
        offset,
        out.getFilePointer() - offset);
  }

  /** Returns the number of edges. */
  private long writeRows(IndexOutput out, Adjacency rows, int stride) throws IOException {
    long edges = 0;
    int[] row = new int[Math.max(stride, rows.maxDegree())];
    for (int ordinal = 0; ordinal < rows.size(); ordinal++) {
      if (ordinal % ROWS_PER_ABORT_CHECK == 0) {
        abort.check();
      }
      int degree = rows.neighbors(ordinal, row);
      edges += degree;
      for (int slot = 0; slot < stride; slot++) {
        out.writeInt(slot < degree ? row[slot] : StoredAdjacency.UNUSED);
      }
    }
    return edges;
  }

  FieldMetadata.QuantizationMetadata writeCodes(IndexOutput out, MergeSources sources)
      throws IOException {
    int size = vectors().size();
    long start = System.nanoTime();
    say("quantize " + info.name + ": " + size + " vectors");
    Codebook codebook = reusableCodebook(sources);
    boolean kept = codebook != null;
    if (kept == false) {
      codebook = train();
    }
    long codesOffset = out.alignFilePointer(VamanaVectorsFormat.ALIGNMENT);
    SourceCodes known = sources.codesOf(codebook.id(), size);
    new CodeWriter(codebook, info.getVectorSimilarityFunction(), workers, abort)
        .write(out, vectors(), known);
    long codesLength = out.getFilePointer() - codesOffset;
    long codebookOffset = out.alignFilePointer(VamanaVectorsFormat.ALIGNMENT);
    for (float component : codebook.centroids()) {
      out.writeInt(Float.floatToIntBits(component));
    }
    say(
        "quantized "
            + info.name
            + (kept ? ": codebook kept, " : ": codebook trained, ")
            + known.count()
            + " codes copied, "
            + (size - known.count())
            + " encoded, "
            + elapsed(start));
    return new FieldMetadata.QuantizationMetadata(
        codebook.layout().count(),
        codesOffset,
        codesLength,
        codebookOffset,
        out.getFilePointer() - codebookOffset,
        codebook.id());
  }

  /** The largest source's codebook if it has the wanted layout and still fits, else null. */
  private Codebook reusableCodebook(MergeSources sources) throws IOException {
    SegmentField source = sources.largestWithCodes();
    if (source == null
        || source.codebook().layout().equals(parameters.layout(info.getVectorDimension()))
            == false) {
      return null;
    }
    double ratio = CodebookFit.errorRatio(source.codebook(), sample(), TRAINING_SEED, abort);
    return ratio <= CodebookFit.KEEP_RATIO ? source.codebook() : null;
  }

  private Codebook train() throws IOException {
    return PqTrainer.train(
        sample(),
        parameters.layout(info.getVectorDimension()),
        CodebookId.random(),
        PqTrainer.Options.defaults(TRAINING_SEED),
        workers.executor(),
        workers.threads(),
        abort);
  }

  private VectorSample sample() throws IOException {
    KnnVectorValues vectors = vectors();
    int size = PqTrainer.sampleSize(parameters.layout(info.getVectorDimension()), vectors.size());
    return VectorSample.of(vectors, info.getVectorSimilarityFunction(), size, TRAINING_SEED);
  }

  private void say(String message) {
    if (messages.isEnabled(INFO_COMPONENT)) {
      messages.message(INFO_COMPONENT, message);
    }
  }

  private static String elapsed(long startNanos) {
    return String.format(Locale.ROOT, "%.3f s", (System.nanoTime() - startNanos) * 1e-9);
  }
}
