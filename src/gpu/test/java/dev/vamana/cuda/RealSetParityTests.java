package dev.vamana.cuda;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.BatchedKnn;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.QueryVector;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.gpu.Gpu;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.util.FixedBitSet;

/**
 * Compares walks on the device with the CPU's reference walk on real sets, and checks the recall of
 * converted copies.
 */
public class RealSetParityTests extends DeviceTestCase {

  private static final int K = 10;

  private record Loaded(VectorSet set, DeviceSegment segment) {}

  private static Loaded load(String name, int limit) throws Exception {
    return load(name, limit, false);
  }

  /** With an outlier, one component of one vector is a thousand times what it is in the set. */
  private static Loaded load(String name, int limit, boolean outlier) throws Exception {
    String root = System.getProperty("vector.data");
    assumeTrue("vector.data is not set", root != null && root.isEmpty() == false);
    Path folder = Path.of(root, name);
    assumeTrue(folder + " is missing", Files.isDirectory(folder));
    VectorSet set = VectorSet.load(folder, null, limit).normalized();
    List<QueryVector> vectors = new ArrayList<>();
    for (float[] row : set.base().rows()) {
      vectors.add(QueryVector.of(row));
    }
    if (outlier) {
      float[] row = vectors.get(vectors.size() / 2).floats().clone();
      int largest = 0;
      for (int d = 0; d < row.length; d++) {
        largest = Math.abs(row[d]) > Math.abs(row[largest]) ? d : largest;
      }
      row[largest] *= 1_000;
      vectors.set(vectors.size() / 2, QueryVector.of(row));
    }
    VamanaParameters parameters = VamanaParameters.DEFAULT.withThresholds(0, 0);
    return new Loaded(
        set, DeviceSegment.of(createTempDir(), vectors, set.similarity(), parameters, workers()));
  }

  private static List<QueryVector> queries(VectorSet set) {
    return Arrays.stream(set.queries().rows()).map(QueryVector::of).toList();
  }

  private static void compare(String name, int limit) throws Exception {
    Loaded loaded = load(name, limit);
    try (DeviceSegment segment = loaded.segment()) {
      for (Placement placement :
          List.of(
              Placement.EXACT, Placement.IN_MEMORY, Placement.MAPPED_GRAPH, Placement.HOST_FETCH)) {
        boolean quantized = QUANTIZED_WALKS.contains(placement);
        try (Gpu gpu = open(placement)) {
          serve(gpu, segment.view());
          Gpu.Counts before = gpu.counts();
          for (int beam : new int[] {20, 40, 100}) {
            WalkParameters walk =
                quantized ? WalkParameters.quantized(beam, 0) : WalkParameters.exact(beam);
            Parity parity = new Parity(workers());
            parity.add(gpu.executor(), items(segment, queries(loaded.set()), K, walk));
            parity.add(gpu.executor(), filtered(segment, queries(loaded.set()), walk));
            parity.assertShare(
                name + ", " + placement + ", beam " + beam,
                quantized ? Parity.HALF_TABLES : Parity.FLOAT_SUMS);
          }
          assertNoFallback(gpu, before);
          gpu.executor().closing(segment.view());
        }
      }
    }
  }

  private static List<WorkItem> filtered(
      DeviceSegment segment, List<QueryVector> queries, WalkParameters walk) {
    FixedBitSet bits = new FixedBitSet(segment.vectors().size());
    for (int i = 0; i < bits.length(); i++) {
      if (random().nextInt(10) < 6) {
        bits.set(i);
      }
    }
    List<WorkItem> items = new ArrayList<>();
    for (QueryVector query : queries) {
      items.add(
          item(
              segment.view(),
              query,
              K,
              walk,
              bits,
              bits.cardinality(),
              Long.MAX_VALUE,
              new int[0]));
    }
    return items;
  }

  public void testSift5k() throws Exception {
    compare("sift5k-ngt", Integer.MAX_VALUE);
  }

  public void testMnist() throws Exception {
    compare("mnist60k-784", 20_000);
  }

  public void testGlove() throws Exception {
    compare("glove100-novels", 30_000);
  }

  /** Walks on copies of fewer bits are other walks: their recall counts. */
  public void testCopiesKeepRecall() throws Exception {
    for (String name : List.of("sift5k-ngt", "mnist60k-784", "glove100-novels")) {
      copiesKeepRecall(name, false, Placement.EXACT_FLOAT16, Placement.EXACT_INT8);
    }
  }

  /** An outlier is beyond half precision in some sets, but never beyond bytes. */
  public void testCopiesInBytesKeepRecallBesideAnOutlier() throws Exception {
    for (String name : List.of("sift5k-ngt", "mnist60k-784", "glove100-novels")) {
      copiesKeepRecall(name, true, Placement.EXACT_INT8);
    }
  }

  private static void copiesKeepRecall(String name, boolean outlier, Placement... placements)
      throws Exception {
    Loaded loaded = load(name, 20_000, outlier);
    try (DeviceSegment segment = loaded.segment()) {
      Recall recall = new Recall(loaded.set(), K);
      for (int beam : new int[] {20, 40, 80}) {
        List<WorkItem> items = items(segment, queries(loaded.set()), K, WalkParameters.exact(beam));
        double exact = recall.of(ordinals(new CpuExecutor(workers()).search(items)));
        for (Placement placement : placements) {
          try (Gpu gpu = open(placement)) {
            serve(gpu, segment.view());
            Gpu.Counts before = gpu.counts();
            double found = recall.of(ordinals(gpu.executor().search(items)));
            assertNoFallback(gpu, before);
            assertTrue(
                name + ", " + placement + ", beam " + beam + ": " + found + " < " + exact,
                found >= exact - 0.002);
            gpu.executor().closing(segment.view());
          }
        }
      }
    }
  }

  private static int[][] ordinals(List<WorkResult> results) {
    return results.stream().map(WorkResult::ordinals).toArray(int[][]::new);
  }

  /** Deleted documents are no hits, whoever walks. */
  public void testDeletes() throws Exception {
    Loaded loaded = load("sift5k-ngt", Integer.MAX_VALUE);
    try (DeviceSegment segment = loaded.segment()) {
      // without merges, which would bring another codec
      IndexWriterConfig config = DeviceSegment.config(new VamanaVectorsFormat());
      try (IndexWriter writer = new IndexWriter(segment.directory(), config)) {
        for (int id = 0; id < segment.vectors().size(); id += 3) {
          writer.deleteDocuments(new Term(DeviceSegment.ID, Integer.toString(id)));
        }
      }
      try (DeviceSegment deleted =
              new DeviceSegment(
                  segment.vectors(),
                  segment.directory(),
                  org.apache.lucene.index.DirectoryReader.open(segment.directory()));
          Gpu gpu = open(Placement.EXACT)) {
        serve(gpu, deleted.view());
        IndexSearcher searcher = new IndexSearcher(deleted.reader());
        List<QueryVector> queries = queries(loaded.set());
        WalkParameters walk = WalkParameters.exact(40);
        TopDocs[] expected =
            new BatchedKnn(searcher, new CpuExecutor(workers()))
                .search(DeviceSegment.FIELD, queries, walk, K, null);
        TopDocs[] actual =
            new BatchedKnn(searcher, gpu.executor())
                .search(DeviceSegment.FIELD, queries, walk, K, null);
        int equal = 0;
        for (int q = 0; q < queries.size(); q++) {
          assertEquals(K, actual[q].scoreDocs.length);
          for (int i = 0; i < K; i++) {
            assertTrue("deleted", actual[q].scoreDocs[i].doc % 3 != 0);
            equal += expected[q].scoreDocs[i].doc == actual[q].scoreDocs[i].doc ? 1 : 0;
          }
        }
        assertTrue(equal + " equal", equal >= Parity.FLOAT_SUMS * K * queries.size());
        gpu.executor().closing(deleted.view());
      }
    }
  }
}
