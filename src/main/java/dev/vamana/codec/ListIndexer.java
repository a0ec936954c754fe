package dev.vamana.codec;

import dev.vamana.ivf.Centroids;
import dev.vamana.ivf.ListBuilder;
import dev.vamana.ivf.ListShape;
import dev.vamana.search.ExecutorRegistry;
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
 * centroids, unless the merged segment needs many more lists.
 */
final class ListIndexer {

  private static final long SEED = 42;

  // centroids are kept as long as the source has at least this share of the lists wanted now
  private static final double MIN_LISTS_SHARE = 0.5;
  private static final double MAX_LISTS_SHARE = 4;

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

  private ListMetadata build(IndexOutput out, MergeSources sources) throws IOException {
    long start = System.nanoTime();
    int size = vectors.size();
    say("build lists of " + info.name + ": " + size + " vectors");
    Centroids kept = kept(sources.largestWithLists());
    Centroids centroids = kept == null ? train() : kept;
    double trained = (System.nanoTime() - start) * 1e-9;
    List<ListBuilder.Source> copies =
        sources.listsOf(centroids.id(), building.parameters().codes());
    long offset = out.alignFilePointer(VamanaVectorsFormat.ALIGNMENT);
    ListBuilder.Written written =
        new ListBuilder(
                vectors,
                info.getVectorSimilarityFunction(),
                building.parameters().codes(),
                centroids,
                ExecutorRegistry.quantizer(),
                building.workers(),
                abort)
            .write(out, copies);
    long nanos = System.nanoTime() - start;
    int encoded = size - written.copied();
    building.statistics().listsBuilt(kept != null, encoded, written.copied(), nanos);
    say(
        "built lists of "
            + info.name
            + ": "
            + written.shape().lists()
            + " centroids "
            + (kept == null ? "trained" : "kept")
            + ", "
            + written.copied()
            + " codes copied, "
            + encoded
            + " encoded, "
            + String.format(
                Locale.ROOT,
                "%.3f s, of which centroids %.3f s, assignment %.3f s",
                nanos * 1e-9,
                trained,
                written.assignedNanos() * 1e-9));
    return new ListMetadata(
        written.shape(), written.facts(), offset, out.getFilePointer() - offset);
  }

  private Centroids kept(SegmentField source) throws IOException {
    if (source == null) {
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

  private Centroids train() throws IOException {
    int lists = ListShape.lists(vectors.size());
    int most = Centroids.sampleSize(lists, vectors.size());
    VectorSample sample = VectorSample.of(vectors, info.getVectorSimilarityFunction(), most, SEED);
    return Centroids.train(
        sample, lists, SEED, ExecutorRegistry.quantizer(), building.workers(), abort);
  }

  private void say(String message) {
    if (messages.isEnabled(FieldIndexer.INFO_COMPONENT)) {
      messages.message(FieldIndexer.INFO_COMPONENT, message);
    }
  }
}
