package dev.vamana.codec;

import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookFit;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.SharedCodebook;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.work.AbortCheck;
import java.io.IOException;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.KnnVectorValues;

/**
 * Chooses the codebook that quantizes a field of a new segment: the shared codebook if it is ready
 * and fits, else the codebook of a merge's source segment, else a codebook trained on the field's
 * vectors.
 */
final class CodebookChoice {

  private static final long TRAINING_SEED = 42;

  private final FieldInfo info;
  private final KnnVectorValues vectors;
  private final Building building;
  private final AbortCheck abort;

  /**
   * Makes a choice for one field.
   *
   * @param vectors the field's vectors, read by no one else while this instance is used
   */
  CodebookChoice(FieldInfo info, KnnVectorValues vectors, Building building, AbortCheck abort) {
    this.info = info;
    this.vectors = vectors;
    this.building = building;
    this.abort = abort;
  }

  /**
   * A codebook and its origin.
   *
   * @param origin where the codebook comes from, for the info stream
   */
  record Chosen(Codebook codebook, String origin) {}

  /** Chooses a codebook and counts the choice. Asks the provider once. */
  Chosen choose(MergeSources sources) throws IOException {
    String name = building.codebooks().nameFor(info.name);
    if (name == null) {
      return own(sources, null, BuildStatistics.OwnCodebook.NONE_NAMED, "");
    }
    SharedCodebook shared =
        building
            .codebooks()
            .current(
                info.name,
                info.getVectorDimension(),
                info.getVectorEncoding(),
                info.getVectorSimilarityFunction());
    if (shared == null) {
      String why = " since codebook " + name + " is not ready";
      return own(sources, name, BuildStatistics.OwnCodebook.NOT_READY, why);
    }
    String mismatch =
        shared
            .mismatch(
                info.getVectorDimension(),
                info.getVectorEncoding(),
                info.getVectorSimilarityFunction())
            .orElse(null);
    if (mismatch != null) {
      String why = " since codebook " + name + " " + mismatch;
      return own(sources, null, BuildStatistics.OwnCodebook.DOES_NOT_FIT, why);
    }
    building.statistics().sharedCodebook();
    return new Chosen(
        shared.codebook(), "codebook " + shared.name() + " version " + shared.version());
  }

  /**
   * Chooses among the codebooks of the merge's source segments, or trains one.
   *
   * @param name name of the shared codebook whose newest version in a source segment is preferred,
   *     or null
   */
  private Chosen own(
      MergeSources sources, String name, BuildStatistics.OwnCodebook reason, String why)
      throws IOException {
    Codebook kept = name == null ? null : sources.newestCodebook(name);
    if (kept == null) {
      kept = fitting(sources.largestWithCodes());
    }
    if (kept != null) {
      building.statistics().keptCodebook(reason);
      return new Chosen(kept, "codebook kept" + why);
    }
    Codebook trained = train();
    building.statistics().trainedCodebook(reason);
    return new Chosen(trained, "codebook trained" + why);
  }

  /**
   * The source's codebook if it has the configured layout and its error is still low, else null.
   */
  private Codebook fitting(SegmentField source) throws IOException {
    if (source == null || source.codebook().layout().equals(layout()) == false) {
      return null;
    }
    double ratio = CodebookFit.errorRatio(source.codebook(), sample(), TRAINING_SEED, abort);
    return ratio <= CodebookFit.KEEP_RATIO ? source.codebook() : null;
  }

  private Codebook train() throws IOException {
    return PqTrainer.train(
        ExecutorRegistry.quantizer(),
        sample(),
        layout(),
        CodebookId.random(),
        PqTrainer.Options.defaults(TRAINING_SEED),
        building.workers(),
        abort);
  }

  private VectorSample sample() throws IOException {
    int size = PqTrainer.sampleSize(layout(), vectors.size());
    return VectorSample.of(vectors, info.getVectorSimilarityFunction(), size, TRAINING_SEED);
  }

  private SubspaceLayout layout() {
    return building.parameters().layout(info.getVectorDimension());
  }
}
