package dev.vamana.tools.benchmark;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.index.VectorCodec;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.Locale;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.store.MMapDirectory;
import org.elasticsearch.common.logging.LogConfigurator;

/**
 * Measures the peak heap of one merge that builds graph and codes of a whole set, and compares it
 * with the size of the graph. docs/internals/graph.md lists the parts of the heap.
 */
public final class MergeHeap {

  private static final int SEGMENTS = 4;

  private MergeHeap() {}

  /**
   * Runs the measurement.
   *
   * @param args the set's folder, the most vectors to use, and the max degree
   */
  public static void main(String[] args) throws IOException {
    // Lucene instantiates every format on the class path, and Elasticsearch's formats need a
    // logger.
    LogConfigurator.configureESLogging();
    Path folder = Path.of(args[0]);
    int limit = Integer.parseInt(args[1]);
    int maxDegree = Integer.parseInt(args[2]);
    VamanaParameters parameters =
        VamanaParameters.DEFAULT.withGraph(maxDegree, maxDegree, VamanaParameters.DEFAULT_ALPHA);
    Path index = Files.createTempDirectory("merge-heap");
    int size = writeSegments(folder, limit, index, parameters);
    try (MMapDirectory directory = new MMapDirectory(index)) {
      IndexWriterConfig config =
          config(parameters.withThresholds(0, 0)).setMergePolicy(new LogDocMergePolicy());
      BuildMeter.Measured<Void> merge =
          BuildMeter.measure(
              () -> {
                try (IndexWriter writer = new IndexWriter(directory, config)) {
                  writer.forceMerge(1);
                }
                return null;
              });
      double graphMb = (double) size * ((maxDegree + 3) / 4 * 4) * Integer.BYTES / (1 << 20);
      System.out.printf(
          Locale.ROOT,
          "%d vectors, max degree %d: graph %.1f MB, peak heap %.1f MB, %.0f s%n",
          size,
          maxDegree,
          graphMb,
          merge.cost().peakHeapMb(),
          merge.cost().wallSeconds());
    } finally {
      try (var files = Files.walk(index)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  /**
   * Writes segments without graphs and returns the number of vectors. The caller keeps no reference
   * to the set, so that the collector can free it before the merge.
   */
  private static int writeSegments(Path folder, int limit, Path index, VamanaParameters parameters)
      throws IOException {
    VectorSet set = VectorSet.load(folder, null, limit).normalized();
    IndexWriterConfig config =
        config(parameters.withThresholds(Integer.MAX_VALUE, Integer.MAX_VALUE))
            .setMergePolicy(NoMergePolicy.INSTANCE);
    float[][] vectors = set.base().rows();
    try (MMapDirectory directory = new MMapDirectory(index);
        IndexWriter writer = new IndexWriter(directory, config)) {
      for (int i = 0; i < vectors.length; i++) {
        Document document = new Document();
        document.add(new KnnFloatVectorField("vector", vectors[i], set.similarity()));
        writer.addDocument(document);
        if ((i + 1) % Math.max(1, vectors.length / SEGMENTS) == 0) {
          writer.flush();
        }
      }
    }
    return vectors.length;
  }

  private static IndexWriterConfig config(VamanaParameters parameters) {
    KnnVectorsFormat format = new VamanaVectorsFormat(parameters, Workers.callingThread());
    return new IndexWriterConfig()
        .setCodec(new VectorCodec(format))
        .setRAMBufferSizeMB(1_000)
        .setUseCompoundFile(false)
        .setMergeScheduler(new SerialMergeScheduler());
  }
}
