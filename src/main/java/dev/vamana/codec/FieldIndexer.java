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

  private static final int CHECK_SAMPLE = 4_096;

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

  /**
   * Builds and writes the graph.
   *
   * @param build how it is built
   */
  FieldMetadata.GraphMetadata writeGraph(
      IndexOutput out, BuildParameters build, MergeSources sources) throws IOException {
    KnnVectorValues vectors = vectors();
    PairDistanceFactory distances =
        new PairDistanceFactory(
            raw.getFlatVectorScorer(info.name), info.getVectorSimilarityFunction(), vectors);
    int medoid = Medoid.find(vectors(), info.getVectorSimilarityFunction());
    VamanaGraph graph =
        new VamanaBuilder(distances, build, workers, abort).build(medoid, sources.largestGraph());
    int stride = StoredAdjacency.stride(graph.maxDegree());
    long offset = out.alignFilePointer(VamanaVectorsFormat.ALIGNMENT);
    writeRows(out, graph.rows(), stride);
    return new FieldMetadata.GraphMetadata(
        graph.maxDegree(),
        stride,
        build.beamWidth(),
        build.alpha(),
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
    Codebook codebook = reusableCodebook(sources);
    if (codebook == null) {
      codebook = train();
    }
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
    double ratio =
        CodebookFit.errorRatio(source.codebook(), sample(CHECK_SAMPLE), TRAINING_SEED, abort);
    return ratio <= CodebookFit.KEEP_RATIO ? source.codebook() : null;
  }

  private Codebook train() throws IOException {
    return PqTrainer.train(
        sample(TRAINING_SAMPLE),
        parameters.layout(info.getVectorDimension()),
        CodebookId.random(),
        PqTrainer.Options.defaults(TRAINING_SEED),
        workers.executor(),
        workers.threads(),
        abort);
  }

  private VectorSample sample(int most) throws IOException {
    return VectorSample.of(vectors(), info.getVectorSimilarityFunction(), most, TRAINING_SEED);
  }
}
