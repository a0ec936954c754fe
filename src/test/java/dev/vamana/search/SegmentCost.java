package dev.vamana.search;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.index.VectorCodec;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * Measures what a walk and a scan of small segments cost, in processor time of one thread, and
 * prints what {@link SearchPlan} says about it. Not a test: run its main method.
 */
final class SegmentCost {

  private static final String FIELD = "vector";
  private static final int[] BEAMS = {10, 20, 40, 80};
  private static final int ROUNDS = 12;
  private static final long VECTORS_OF_A_ROUND = 2_000_000;
  private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

  private final VectorSet set;
  private final List<SegmentView> segments = new ArrayList<>();

  private SegmentCost(VectorSet set) {
    this.set = set;
  }

  /** Arguments: the folder of a set, number of segments, and numbers of vectors of a segment. */
  public static void main(String[] arguments) throws IOException {
    int segments = Integer.parseInt(arguments[1]);
    for (int i = 2; i < arguments.length; i++) {
      int size = Integer.parseInt(arguments[i]);
      VectorSet set = VectorSet.load(Path.of(arguments[0]), null, size * segments).normalized();
      Path folder = Files.createTempDirectory("segment-cost");
      try {
        new SegmentCost(set).measure(folder, size, segments);
      } finally {
        IOUtils.rm(folder);
      }
    }
  }

  private void measure(Path folder, int size, int count) throws IOException {
    VamanaVectorsFormat format =
        new VamanaVectorsFormat(
            VamanaParameters.DEFAULT.withThresholds(
                0, VamanaParameters.DEFAULT_QUANTIZATION_THRESHOLD),
            Workers.callingThread());
    IndexWriterConfig config =
        new IndexWriterConfig()
            .setCodec(new VectorCodec(format))
            .setMergePolicy(NoMergePolicy.INSTANCE);
    try (MMapDirectory directory = new MMapDirectory(folder)) {
      try (IndexWriter writer = new IndexWriter(directory, config)) {
        for (int id = 0; id < size * count; id++) {
          Document document = new Document();
          document.add(new KnnFloatVectorField(FIELD, set.base().rows()[id], set.similarity()));
          writer.addDocument(document);
          if ((id + 1) % size == 0) {
            writer.flush();
          }
        }
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        for (LeafReaderContext leaf : reader.leaves()) {
          segments.add(SegmentViews.of(leaf.reader(), FIELD));
        }
        for (int beam : BEAMS) {
          print(size, beam);
        }
      }
    }
  }

  private void print(int size, int beam) throws IOException {
    double walk = Double.MAX_VALUE;
    double scan = Double.MAX_VALUE;
    for (int round = 0; round < ROUNDS; round++) {
      walk = Math.min(walk, micros(beam, true));
      scan = Math.min(scan, micros(beam, false));
    }
    SegmentView any = segments.get(0);
    double expected = SearchPlan.visits(size, any.meanDegree(), beam);
    System.out.println(
        String.format(
            Locale.ROOT,
            "%s, %d dims, %d vectors, beam %d: walk %.1f us, %.0f distances expected; scan %.1f"
                + " us; a scanned distance costs %.2f, assumed %.2f, plan: %s",
            set.name(),
            set.dimension(),
            size,
            beam,
            walk,
            expected,
            scan,
            scan / size / (walk / expected),
            SearchPlan.scanCost(any),
            SearchPlan.scan(any, beam, size) ? "scan" : "walk"));
  }

  /** Processor time of one search of one segment, all segments being searched for each query. */
  private double micros(int beam, boolean walk) throws IOException {
    float[][] queries = set.queries().rows();
    int count = (int) Math.max(20, VECTORS_OF_A_ROUND / set.base().size());
    long before = THREADS.getCurrentThreadCpuTime();
    for (int q = 0; q < count; q++) {
      float[] query = queries[q % queries.length];
      for (SegmentView segment : segments) {
        search(segment, query, beam, walk);
      }
    }
    return (THREADS.getCurrentThreadCpuTime() - before) / 1e3 / count / segments.size();
  }

  private static void search(SegmentView segment, float[] query, int beam, boolean walk)
      throws IOException {
    TopKnnCollector collector = new TopKnnCollector(beam, Integer.MAX_VALUE);
    RandomVectorScorer scorer = segment.scorer(QueryVector.of(query));
    if (walk) {
      new CollectorWalk(
              scorer, segment.distanceFilter(query), segment.adjacency(), collector, null, beam)
          .run(new int[] {segment.medoid()}, CollectorWalk.TO_THE_END);
    } else {
      new ExactScan(scorer, collector).run(null);
    }
    collector.topDocs();
  }
}
