package dev.vamana.codec;

import dev.vamana.graph.Adjacency;
import dev.vamana.graph.StoredAdjacency;
import dev.vamana.graph.VamanaBuilder;
import dev.vamana.graph.VamanaGraph;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.PqTrainer;
import dev.vamana.vectors.Medoid;
import dev.vamana.vectors.PairDistanceFactory;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import org.apache.lucene.codecs.hnsw.FlatVectorsReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.store.IndexOutput;

/**
 * Builds and writes the graph and the codes of one field from its raw vectors, which have been
 * written already.
 */
final class FieldIndexer {

  /** Vectors that a codebook is trained on, and those that tell whether one still fits. */
  private static final int TRAINING_SAMPLE = 16_384;

  private static final int CHECK_SAMPLE = 2_048;

  // a codebook is kept while it quantizes the merged vectors at most this much worse than those it
  // was trained on
  private static final double KEEP_CODEBOOK_WITHIN = 1.1;

  private static final long TRAINING_SEED = 42;

  private final FieldInfo info;
  private final FlatVectorsReader raw;
  private final VamanaParameters parameters;
  private final Workers workers;
  private final AbortCheck abort;

  FieldIndexer(
      FieldInfo info,
      FlatVectorsReader raw,
      VamanaParameters parameters,
      Workers workers,
      AbortCheck abort) {
    this.info = info;
    this.raw = raw;
    this.parameters = parameters;
    this.workers = workers;
    this.abort = abort;
  }

  /** The field's vectors, a new view at each call. */
  KnnVectorValues vectors() throws IOException {
    return switch (info.getVectorEncoding()) {
      case BYTE -> raw.getByteVectorValues(info.name);
      case FLOAT32 -> raw.getFloatVectorValues(info.name);
    };
  }

  FieldMetadata.GraphMetadata writeGraph(IndexOutput out, MergeSources sources) throws IOException {
    KnnVectorValues vectors = vectors();
    PairDistanceFactory distances =
        new PairDistanceFactory(
            raw.getFlatVectorScorer(info.name), info.getVectorSimilarityFunction(), vectors);
    int medoid = Medoid.find(vectors(), info.getVectorSimilarityFunction());
    VamanaGraph graph =
        new VamanaBuilder(distances, parameters.build(), workers, abort)
            .build(medoid, sources.largestGraph());
    int stride = StoredAdjacency.stride(graph.maxDegree());
    long offset = out.alignFilePointer(VamanaVectorsFormat.ALIGNMENT);
    writeRows(out, graph.rows(), stride);
    return new FieldMetadata.GraphMetadata(
        graph.maxDegree(),
        stride,
        parameters.beamWidth(),
        parameters.alpha(),
        graph.entryPoint(),
        offset,
        out.getFilePointer() - offset);
  }

  private static void writeRows(IndexOutput out, Adjacency rows, int stride) throws IOException {
    int[] row = new int[Math.max(stride, rows.maxDegree())];
    for (int ordinal = 0; ordinal < rows.size(); ordinal++) {
      int degree = rows.neighbors(ordinal, row);
      for (int slot = 0; slot < stride; slot++) {
        out.writeInt(slot < degree ? row[slot] : StoredAdjacency.UNUSED);
      }
    }
  }

  FieldMetadata.QuantizationMetadata writeCodes(IndexOutput out, MergeSources sources)
      throws IOException {
    TrainedCodebook chosen = reusableCodebook(sources);
    if (chosen == null) {
      chosen = train();
    }
    Codebook codebook = chosen.codebook;
    long codesOffset = out.alignFilePointer(VamanaVectorsFormat.ALIGNMENT);
    new CodeWriter(codebook, info.getVectorSimilarityFunction(), workers, abort)
        .write(out, vectors(), sources.codesOf(codebook.id(), vectors().size()));
    long codesLength = out.getFilePointer() - codesOffset;
    long codebookOffset = out.alignFilePointer(VamanaVectorsFormat.ALIGNMENT);
    for (float component : codebook.centroids()) {
      out.writeInt(Float.floatToIntBits(component));
    }
    return new FieldMetadata.QuantizationMetadata(
        codebook.layout().count(),
        codesOffset,
        codesLength,
        codebookOffset,
        out.getFilePointer() - codebookOffset,
        codebook.id(),
        chosen.trainingError);
  }

  private TrainedCodebook reusableCodebook(MergeSources sources) throws IOException {
    SegmentField source = sources.largestWithCodes();
    if (source == null
        || source.codebook().layout().equals(parameters.layout(info.getVectorDimension()))
            == false) {
      return null;
    }
    double trainingError = source.metadata().quantization().trainingError();
    double error = source.codebook().quantizationError(sample(CHECK_SAMPLE), abort);
    return error <= KEEP_CODEBOOK_WITHIN * trainingError
        ? new TrainedCodebook(source.codebook(), trainingError)
        : null;
  }

  private TrainedCodebook train() throws IOException {
    VectorSample sample = sample(TRAINING_SAMPLE);
    Codebook codebook =
        PqTrainer.train(
            sample,
            parameters.layout(info.getVectorDimension()),
            CodebookId.random(),
            PqTrainer.Options.defaults(TRAINING_SEED),
            workers.executor(),
            workers.threads(),
            abort);
    return new TrainedCodebook(codebook, codebook.quantizationError(sample(CHECK_SAMPLE), abort));
  }

  private VectorSample sample(int most) throws IOException {
    return VectorSample.of(vectors(), info.getVectorSimilarityFunction(), most);
  }

  private record TrainedCodebook(Codebook codebook, double trainingError) {}
}
