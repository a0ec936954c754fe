package dev.vamana.cuda;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.BatchedKnn;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.VamanaSearchStrategy;
import dev.vamana.search.WalkParameters;
import dev.vamana.tools.gpu.Gpu;
import dev.vamana.work.Workers;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.TieredMergePolicy;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.SearcherManager;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.util.VectorUtil;

/** Opens and closes segments while the device searches. At the end the device holds no memory. */
public class DeviceLifecycleTests extends DeviceTestCase {

  private static final int THREADS = 32;
  private static final int DIMENSION = 32;
  private static final int K = 10;
  private static final VamanaParameters PARAMETERS =
      VamanaParameters.DEFAULT.withGraph(24, 48, 1.2f).withSubspaces(8).withThresholds(0, 0);

  private static List<QueryVector> vectors(int count, long seed) {
    return DeviceSegment.clustered(
        new Random(seed),
        count,
        DIMENSION,
        VectorEncoding.FLOAT32,
        VectorSimilarityFunction.EUCLIDEAN);
  }

  private static VamanaSearchStrategy strategy(Placement placement) {
    return new VamanaSearchStrategy(
        QUANTIZED_WALKS.contains(placement)
            ? WalkParameters.quantized(40, 40)
            : WalkParameters.exact(40));
  }

  public void testThreadsSearchWhileSegmentsComeAndGo() throws Exception {
    for (Placement placement :
        List.of(Placement.EXACT, Placement.IN_MEMORY, Placement.MAPPED_GRAPH)) {
      try (Gpu gpu = open(placement)) {
        Gpu.Counts start = gpu.counts();
        try (ExecutorRegistry.Installation installation = ExecutorRegistry.install(gpu::executor)) {
          assertSame(gpu.executor(), installation.executor());
          searchWhileWriting(placement);
        }
        Gpu.Counts end = gpu.counts();
        assertTrue(placement + ": the device answered nothing", end.answered() > start.answered());
        assertEquals(placement + ": device memory", start.deviceBytes(), end.deviceBytes());
        assertEquals(placement + ": pinned memory", start.pinnedBytes(), end.pinnedBytes());
      }
    }
  }

  private static void searchWhileWriting(Placement placement) throws Exception {
    List<QueryVector> vectors = vectors(24_000, random().nextLong());
    IndexWriterConfig config =
        DeviceSegment.config(new VamanaVectorsFormat(PARAMETERS, Workers.callingThread()))
            .setMergePolicy(new TieredMergePolicy().setSegmentsPerTier(3));
    try (MMapDirectory directory = new MMapDirectory(createTempDir());
        IndexWriter writer = new IndexWriter(directory, config)) {
      add(writer, vectors, 0, 4_000);
      SearcherManager manager = new SearcherManager(writer, null);
      AtomicBoolean done = new AtomicBoolean();
      AtomicReference<Throwable> failure = new AtomicReference<>();
      AtomicLong searches = new AtomicLong();
      List<Thread> threads = new ArrayList<>();
      for (int t = 0; t < THREADS; t++) {
        Random random = new Random(random().nextLong());
        Thread thread =
            new Thread(
                () -> {
                  try {
                    while (done.get() == false) {
                      search(manager, vectors, random, placement);
                      searches.incrementAndGet();
                    }
                  } catch (Throwable e) {
                    failure.compareAndSet(null, e);
                    done.set(true);
                  }
                },
                "search-" + t);
        threads.add(thread);
        thread.start();
      }
      try {
        for (int from = 4_000; from < vectors.size() && done.get() == false; from += 2_000) {
          add(writer, vectors, from, from + 2_000);
          for (int i = 0; i < 200; i++) {
            writer.deleteDocuments(
                new Term(DeviceSegment.ID, Integer.toString(random().nextInt(from))));
          }
          manager.maybeRefreshBlocking();
        }
        writer.forceMerge(1);
        manager.maybeRefreshBlocking();
        long until = searches.get() + 10 * THREADS;
        while (searches.get() < until && done.get() == false) {
          Thread.onSpinWait();
        }
      } finally {
        done.set(true);
        for (Thread thread : threads) {
          thread.join();
        }
        manager.close();
      }
      if (failure.get() != null) {
        throw new AssertionError(placement + ": a search failed", failure.get());
      }
      assertTrue(searches.get() > THREADS);
    }
  }

  private static void add(IndexWriter writer, List<QueryVector> vectors, int from, int to)
      throws Exception {
    for (int id = from; id < to; id++) {
      writer.addDocument(
          DeviceSegment.document(id, vectors.get(id), VectorSimilarityFunction.EUCLIDEAN));
    }
  }

  /** Searches for a stored vector; hits have to be well-formed, whatever is deleted meanwhile. */
  private static void search(
      SearcherManager manager, List<QueryVector> vectors, Random random, Placement placement)
      throws Exception {
    IndexSearcher searcher = manager.acquire();
    try {
      float[] query = vectors.get(random.nextInt(4_000)).floats();
      TopDocs hits =
          searcher.search(
              new KnnFloatVectorQuery(DeviceSegment.FIELD, query, K, null, strategy(placement)), K);
      if (hits.scoreDocs.length != K) {
        throw new AssertionError(hits.scoreDocs.length + " hits");
      }
      for (int i = 0; i < K; i++) {
        ScoreDoc hit = hits.scoreDocs[i];
        int id = Integer.parseInt(searcher.storedFields().document(hit.doc).get(DeviceSegment.ID));
        float exact =
            VectorUtil.normalizeDistanceToUnitInterval(
                VectorUtil.squareDistance(query, vectors.get(id).floats()));
        if (Math.abs(exact - hit.score) > 1e-4f * exact) {
          throw new AssertionError("hit " + id + " has score " + hit.score + ", not " + exact);
        }
        if (i > 0 && hits.scoreDocs[i - 1].score < hit.score) {
          throw new AssertionError("scores ascend");
        }
      }
    } finally {
      manager.release(searcher);
    }
  }

  public void testReopeningAThousandTimes() throws Exception {
    for (Placement placement :
        List.of(Placement.EXACT, Placement.IN_MEMORY, Placement.MAPPED_GRAPH)) {
      Path folder = createTempDir();
      List<QueryVector> vectors = vectors(5_000, random().nextLong());
      DeviceSegment.of(folder, vectors, VectorSimilarityFunction.EUCLIDEAN, PARAMETERS, workers())
          .close();
      try (Gpu gpu = open(placement);
          ExecutorRegistry.Installation installation = ExecutorRegistry.install(gpu::executor)) {
        assertSame(gpu.executor(), installation.executor());
        Gpu.Counts start = gpu.counts();
        for (int round = 0; round < 1_000; round++) {
          try (MMapDirectory directory = new MMapDirectory(folder);
              DirectoryReader reader = DirectoryReader.open(directory)) {
            if (round % 4 == 0) {
              gpu.await(List.of(DeviceSegment.view(reader.leaves().get(0).reader())));
            }
            QueryVector query = vectors.get(random().nextInt(vectors.size()));
            TopDocs hits =
                new IndexSearcher(reader)
                    .search(
                        new KnnFloatVectorQuery(
                            DeviceSegment.FIELD, query.floats(), K, null, strategy(placement)),
                        K);
            assertEquals(K, hits.scoreDocs.length);
          }
        }
        Gpu.Counts end = gpu.counts();
        assertTrue(placement + ": rarely answered", end.answered() - start.answered() >= 250);
        assertEquals(placement + ": device memory", start.deviceBytes(), end.deviceBytes());
        assertEquals(placement + ": pinned memory", start.pinnedBytes(), end.pinnedBytes());
      }
    }
  }

  public void testDeletingWhileSearching() throws Exception {
    List<QueryVector> vectors = vectors(5_000, random().nextLong());
    IndexWriterConfig config =
        DeviceSegment.config(new VamanaVectorsFormat(PARAMETERS, Workers.callingThread()));
    try (Gpu gpu = open(Placement.EXACT);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(gpu::executor);
        MMapDirectory directory = new MMapDirectory(createTempDir());
        IndexWriter writer = new IndexWriter(directory, config)) {
      assertSame(gpu.executor(), installation.executor());
      add(writer, vectors, 0, vectors.size());
      writer.commit();
      WalkParameters walk = WalkParameters.exact(40);
      for (int round = 0; round < 1_000; round++) {
        writer.deleteDocuments(new Term(DeviceSegment.ID, Integer.toString(round)));
        try (DirectoryReader reader = DirectoryReader.open(writer)) {
          IndexSearcher searcher = new IndexSearcher(reader);
          List<QueryVector> deleted = List.of(vectors.get(round), vectors.get(round / 2));
          TopDocs[] hits =
              new BatchedKnn(searcher, gpu.executor())
                  .search(DeviceSegment.FIELD, deleted, walk, K, null);
          for (TopDocs found : hits) {
            assertEquals(K, found.scoreDocs.length);
            for (ScoreDoc hit : found.scoreDocs) {
              assertTrue("deleted " + hit.doc, hit.doc > round);
            }
          }
          if (round % 100 == 0) {
            TopDocs[] expected =
                new BatchedKnn(searcher, new CpuExecutor(workers()))
                    .search(DeviceSegment.FIELD, deleted, walk, K, null);
            assertEquals(expected[0].scoreDocs[0].doc, hits[0].scoreDocs[0].doc);
          }
        }
      }
    }
  }
}
