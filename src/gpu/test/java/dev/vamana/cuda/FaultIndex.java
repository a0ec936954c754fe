package dev.vamana.cuda;

import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.ivf.CodeKind;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.tools.index.VectorCodec;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;

/** The indices of the fault matrix. */
final class FaultIndex {

  private static final int DIMENSION = 20;
  private static final int SERVED = 1_600;
  private static final int INDEXED = 320;

  private FaultIndex() {}

  /**
   * Points of a plane, among which every walk finds the nearest. Their components are integers,
   * whose sums are exact, so that device and CPU train the same codebooks.
   */
  static float[] vector(Random random) {
    float[] vector = new float[DIMENSION];
    int x = random.nextInt(200);
    int y = random.nextInt(200);
    for (int d = 0; d < DIMENSION; d++) {
      vector[d] = d % 3 * x + (d + 1) % 4 * y;
    }
    return vector;
  }

  private static IndexWriterConfig config(KnnVectorsFormat format) {
    return new IndexWriterConfig()
        .setCodec(new VectorCodec(format))
        .setMergeScheduler(new SerialMergeScheduler());
  }

  private static KnnVectorsFormat format(IndexType type) {
    return new VamanaVectorsFormat(
        VamanaParameters.DEFAULT
            .withGraph(8, 32, 1.2f)
            .withThresholds(0, 0)
            .withSubspaces(4)
            .withType(type, CodeKind.DEFAULT),
        Workers.callingThread());
  }

  /** Returns the format of the segments that a route searches. */
  static KnnVectorsFormat format(FaultCell.Route route) {
    return route == FaultCell.Route.STOCK
        ? new Lucene99HnswVectorsFormat(16, 100, 1, null, 0)
        : format(route.lists() ? IndexType.IVF : IndexType.GRAPH);
  }

  /** Writes an index of two segments. */
  static void write(Directory directory, KnnVectorsFormat format, Random random)
      throws IOException {
    try (IndexWriter writer =
        new IndexWriter(directory, config(format).setMergePolicy(NoMergePolicy.INSTANCE))) {
      for (int half = 0; half < 2; half++) {
        add(writer, random, SERVED / 2);
        writer.flush();
      }
    }
  }

  private static void add(IndexWriter writer, Random random, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      Document document = new Document();
      document.add(
          new KnnFloatVectorField(
              DeviceSegment.FIELD, vector(random), VectorSimilarityFunction.EUCLIDEAN));
      writer.addDocument(document);
    }
  }

  /**
   * Indexes, and merges if wanted.
   *
   * @param begun called before the flush or merge in question
   * @param ended called after it
   * @return codebooks and codes of the segments
   */
  static List<Integer> index(Path folder, boolean merge, Runnable begun, Runnable ended)
      throws IOException {
    LogDocMergePolicy merges = new LogDocMergePolicy();
    merges.setMergeFactor(100);
    try (Directory directory = new MMapDirectory(folder)) {
      try (IndexWriter writer =
          new IndexWriter(directory, config(format(IndexType.GRAPH)).setMergePolicy(merges))) {
        Random vectors = new Random(INDEXED);
        if (merge == false) {
          begun.run();
        }
        for (int part = 0; part < 2; part++) {
          add(writer, vectors, INDEXED / 2);
          writer.flush();
        }
        if (merge) {
          begun.run();
          writer.forceMerge(1);
        }
        writer.commit();
        ended.run();
      }
      List<Integer> codes = new ArrayList<>();
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        for (SegmentView view : views(reader)) {
          byte[] own = new byte[(int) view.codesRegion().length()];
          view.codesRegion().open().readBytes(own, 0, own.length);
          codes.add(Arrays.hashCode(view.codebook().centroids()));
          codes.add(Arrays.hashCode(own));
        }
      }
      return codes;
    }
  }

  /** The segments of a reader. */
  static List<SegmentView> views(DirectoryReader reader) {
    List<SegmentView> views = new ArrayList<>();
    for (LeafReaderContext leaf : reader.leaves()) {
      views.add(SegmentViews.of(leaf.reader(), DeviceSegment.FIELD));
    }
    return views;
  }
}
