package dev.vamana.codec;

import dev.vamana.ivf.Centroids;
import dev.vamana.ivf.CodeKind;
import dev.vamana.ivf.ListBuilder;
import dev.vamana.ivf.ListShape;
import dev.vamana.pq.PqEngine;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.vectors.Medoid;
import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.util.InfoStream;

/**
 * Chooses centroids for the inverted lists of a field and writes the lists. A merge keeps the
 * centroids of its largest source segment and copies the codes of every source that has the same
 * centroids, unless the merged segment needs many more lists. A flush, and a merge without such a
 * source, takes over centroids that the format has written before, if they suit the vectors; so
 * later merges find the same centroids in all of their sources. Otherwise centroids are trained.
 */
final class ListIndexer {

  private static final long SEED = 42;

  // centroids are kept as long as the source has at least this share of the lists wanted now
  private static final double MIN_LISTS_SHARE = 0.5;
  private static final double MAX_LISTS_SHARE = 4;

  // at most so many times as many lists are taken over. More lists than wanted cost searches of a
  // flushed segment time; but it is merged soon, and then has about as many as wanted
  private static final double MAX_SHARED_AT_FLUSH = 8;
  private static final double MAX_SHARED_AT_MERGE = 2;
  private static final int LEAST_VECTORS_OF_LIST = 4;

  // vectors whose distances to the centroids tell whether these suit the field's vectors, and how
  // much farther they may be than is expected
  private static final int FIT_SAMPLE = 512;
  private static final double FIT_RATIO = 1.2;

  private final FieldInfo info;
  private final KnnVectorValues vectors;
  private final Building building;
  private final AbortCheck abort;
  private final InfoStream messages;

  /**
   * Makes an indexer of one field.
   *
   * @param vectors the field's vectors, read by no one else while this instance is used
   */
  ListIndexer(
      FieldInfo info,
      KnnVectorValues vectors,
      Building building,
      AbortCheck abort,
      InfoStream messages) {
    this.info = info;
    this.vectors = vectors;
    this.building = building;
    this.abort = abort;
    this.messages = messages;
  }

  /** Writes the lists. */
  ListMetadata write(IndexOutput out, MergeSources sources) throws IOException {
    try {
      return build(out, sources);
    } catch (Throwable e) {
      building.statistics().ended(e);
      throw e;
    }
  }

  /** Writes one list of all vectors, in whose order they lie, with codes of one bit. */
  ListMetadata writeOne(IndexOutput out) throws IOException {
    float[] mean =
        Medoid.mean(vectors.copy(), info.getVectorSimilarityFunction(), building.workers(), abort);
    long offset = out.alignFilePointer(VamanaVectorsFormat.ALIGNMENT);
    ListBuilder.Written written =
        builder(CodeKind.RABITQ1, Centroids.ofAll(mean, SEED), PqEngine.NONE).write(out, List.of());
    return new ListMetadata(
        written.shape(), written.facts(), offset, out.getFilePointer() - offset);
  }

  private ListBuilder builder(CodeKind codes, Centroids centroids, PqEngine engine) {
    return new ListBuilder(
        vectors,
        info.getVectorSimilarityFunction(),
        codes,
        centroids,
        engine,
        building.workers(),
        abort);
  }

  private ListMetadata build(IndexOutput out, MergeSources sources) throws IOException {
    long start = System.nanoTime();
    int size = vectors.size();
    say("build lists of " + info.name + ": " + size + " vectors");
    Centroids kept = kept(sources.largestWithLists());
    BuildStatistics.CentroidOrigin origin = BuildStatistics.CentroidOrigin.KEPT;
    Centroids centroids = kept;
    if (centroids == null) {
      origin = BuildStatistics.CentroidOrigin.SHARED;
      centroids = shared(sources.isMerge());
    }
    if (centroids == null) {
      origin = BuildStatistics.CentroidOrigin.TRAINED;
      centroids = train();
    }
    double trained = (System.nanoTime() - start) * 1e-9;
    List<ListBuilder.Source> copies =
        sources.listsOf(centroids.id(), building.parameters().codes());
    long offset = out.alignFilePointer(VamanaVectorsFormat.ALIGNMENT);
    ListBuilder.Written written =
        builder(building.parameters().codes(), centroids, ExecutorRegistry.quantizer())
            .write(out, copies);
    long nanos = System.nanoTime() - start;
    int encoded = size - written.copied();
    building.statistics().listsBuilt(origin, encoded, written.copied(), nanos);
    building
        .centroids()
        .add(info, new CentroidPool.Known(written.centroids(), written.meanSquare(), size));
    say(
        "built lists of "
            + info.name
            + ": "
            + written.shape().lists()
            + " centroids "
            + origin.name().toLowerCase(Locale.ROOT)
            + ", "
            + written.copied()
            + " codes copied, "
            + encoded
            + " encoded, "
            + String.format(
                Locale.ROOT,
                "%.3f s, of which centroids %.3f s, assignment %.3f s, quantizer and spread %.3f s, codes"
                    + " and file %.3f s",
                nanos * 1e-9,
                trained,
                written.durations().assignment() * 1e-9,
                written.durations().quantizer() * 1e-9,
                written.durations().entries() * 1e-9));
    return new ListMetadata(
        written.shape(), written.facts(), offset, out.getFilePointer() - offset);
  }

  private Centroids kept(SegmentField source) throws IOException {
    CodeKind codes = building.parameters().codes();
    if (source == null || source.lists().shape().kind().isRabitq() != codes.isRabitq()) {
      return null;
    }
    int have = source.lists().shape().lists();
    int wanted = ListShape.lists(vectors.size());
    return have <= vectors.size()
            && have >= MIN_LISTS_SHARE * wanted
            && have <= MAX_LISTS_SHARE * wanted
        ? Centroids.of(source.lists())
        : null;
  }

  /** Returns centroids of a segment that was written before, or null if none suit. */
  private Centroids shared(boolean merge) throws IOException {
    int size = vectors.size();
    int wanted = ListShape.lists(size);
    double most = (merge ? MAX_SHARED_AT_MERGE : MAX_SHARED_AT_FLUSH) * wanted;
    CentroidPool.Known known =
        building
            .centroids()
            .find(
                info,
                MIN_LISTS_SHARE * wanted,
                Math.min(most, (double) size / LEAST_VECTORS_OF_LIST));
    if (known == null || known.centroids().suit(building.parameters().codes()) == false) {
      return null;
    }
    VectorSample sample =
        VectorSample.of(vectors, info.getVectorSimilarityFunction(), FIT_SAMPLE, SEED);
    double square = known.centroids().meanSquare(sample, building.workers(), abort);
    return square <= FIT_RATIO * known.expectedSquare() ? known.centroids() : null;
  }

  private Centroids train() throws IOException {
    int lists = ListShape.lists(vectors.size());
    int most = Centroids.sampleSize(lists, vectors.size());
    VectorSample sample = VectorSample.of(vectors, info.getVectorSimilarityFunction(), most, SEED);
    return Centroids.train(
        sample, lists, SEED, ExecutorRegistry.quantizer(), building.workers(), abort);
  }

  private void say(String message) {
    if (messages.isEnabled(VamanaVectorsFormat.INFO_COMPONENT)) {
      messages.message(VamanaVectorsFormat.INFO_COMPONENT, message);
    }
  }
}
