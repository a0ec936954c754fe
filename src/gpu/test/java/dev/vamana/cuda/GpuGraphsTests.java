package dev.vamana.cuda;

import dev.vamana.codec.BuildStatistics;
import dev.vamana.codec.CodebookProvider;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuOptions;
import dev.vamana.cuda.driver.FaultyDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.graph.BuildParameters;
import dev.vamana.graph.GraphChecks;
import dev.vamana.graph.GraphEngine;
import dev.vamana.graph.GraphTask;
import dev.vamana.graph.VamanaGraph;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.TieredMergePolicy;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.TestUtil;

/** Tests segments whose graphs come from the executor, and executors that fail. */
public class GpuGraphsTests extends GpuTestCase {

  private static final int LEAST = 300;

  private static GpuOptions options() {
    return QUIET
        .withBatches(BATCHES)
        .withTimes(times -> times.retry(1_000_000, 8_000_000))
        .withLeast(GpuOptions.LEAST_TRAINING, LEAST);
  }

  private static long counter(GpuExecutor executor, String group, String name) {
    return executor.statistics().counters().get(group).get(name);
  }

  private static GraphTask task(int size) throws IOException {
    return task(size, VectorSimilarityFunction.EUCLIDEAN);
  }

  private static GraphTask task(int size, VectorSimilarityFunction similarity) throws IOException {
    return GraphChecks.task(
        GraphChecks.floats(GraphChecks.clustered(random(), size, 6, 8)),
        similarity,
        new BuildParameters(8, 24, 1.2f, random().nextLong()));
  }

  public void testSegmentsAreBuiltOnTheDevice() throws IOException {
    int size = 1_500;
    List<float[]> vectors = GraphChecks.clustered(random(), size, 8, 30);
    SimulatedDriver driver = driver();
    BuildStatistics statistics = new BuildStatistics();
    VamanaVectorsFormat format =
        new VamanaVectorsFormat(
            VamanaParameters.DEFAULT.withGraph(12, 32, 1.2f).withThresholds(100, Integer.MAX_VALUE),
            Workers.callingThread(),
            CodebookProvider.NONE,
            statistics);
    try (ExecutorRegistry.Installation installation =
            ExecutorRegistry.install(
                () ->
                    openAtOnce(
                        options(),
                        () -> driver,
                        everything(Placement.EXACT),
                        new QuietListener()));
        Directory directory = newDirectory();
        IndexWriter writer =
            new IndexWriter(
                directory,
                new IndexWriterConfig()
                    .setCodec(TestUtil.alwaysKnnVectorsFormat(format))
                    .setMergePolicy(new TieredMergePolicy()))) {
      GpuExecutor executor = (GpuExecutor) installation.executor();
      for (int i = 0; i < size; i++) {
        Document document = new Document();
        document.add(new StringField("id", Integer.toString(i), Field.Store.NO));
        document.add(
            new KnnFloatVectorField(FIELD, vectors.get(i), VectorSimilarityFunction.EUCLIDEAN));
        writer.addDocument(document);
        if (i == 1_000) {
          writer.commit();
          assertEquals(1, counter(executor, "graphs", "graphs"));
        }
      }
      for (int i = 0; i < 100; i++) {
        writer.deleteDocuments(new Term("id", Integer.toString(i * 10)));
      }
      writer.forceMerge(1);
      writer.commit();
      assertEquals(3, statistics.snapshot().graphs());
      assertTrue(statistics.snapshot().nodesReused() > 800);
      assertEquals(3, counter(executor, "graphs", "graphs"));
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        IndexSearcher searcher = new IndexSearcher(reader);
        int found = 0;
        for (int i = 0; i < 50; i++) {
          TopDocs hits =
              searcher.search(new KnnFloatVectorQuery(FIELD, vectors.get(10 * i + 1), 5), 5);
          for (ScoreDoc hit : hits.scoreDocs) {
            found += hit.score == 1f ? 1 : 0;
          }
        }
        assertTrue(found + " of 50 vectors found themselves", found >= 48);
      }
    }
  }

  public void testWhatTheCpuBuilds() throws IOException {
    SimulatedDriver driver = driver();
    try (GpuExecutor executor =
        openAtOnce(options(), () -> driver, everything(Placement.EXACT), new QuietListener())) {
      GraphEngine engine = executor.graphs();
      assertNull(engine.build(task(LEAST - 1)));
      assertEquals(1, counter(executor, "graphs_on_cpu", "too_small"));
      try (VamanaGraph graph = engine.build(task(LEAST))) {
        assertNotNull(graph);
      }
      assertEquals(1, counter(executor, "graphs", "graphs"));
      assertEquals(LEAST, counter(executor, "graphs", "nodes"));
    }
    SimulatedDriver other = driver();
    try (GpuExecutor off =
        openAtOnce(
            options().withLeast(GpuOptions.LEAST_TRAINING, GpuOptions.NO_GRAPHS),
            () -> other,
            everything(Placement.EXACT),
            new QuietListener())) {
      assertSame(GraphEngine.NONE, off.graphs());
    }
  }

  public void testFailedBuildsAreCountedAndToldOnce() throws IOException {
    List<FallbackReason> told = new ArrayList<>();
    QuietListener listener =
        new QuietListener() {
          @Override
          public void fallback(FallbackReason reason, String detail) {
            told.add(reason);
          }
        };
    FaultyDriver driver = new FaultyDriver(driver());
    try (GpuExecutor executor =
        openAtOnce(options(), () -> driver, everything(Placement.EXACT), listener)) {
      GraphEngine engine = executor.graphs();
      GraphTask task = task(LEAST + random().nextInt(300));
      for (int i = 1; i <= 2; i++) {
        driver.fail(
            FaultyDriver.Operation.LAUNCH, 1 + random().nextInt(20), GpuException.Kind.FAILED);
        assertNull(engine.build(task));
        assertEquals(i, counter(executor, "graphs_on_cpu", "failed"));
      }
      driver.failAll(FaultyDriver.Operation.ALLOCATE, GpuException.Kind.OUT_OF_MEMORY);
      assertNull(engine.build(task));
      driver.heal();
      assertEquals(1, counter(executor, "graphs_on_cpu", "out_of_memory"));
      assertEquals(List.of(FallbackReason.LAUNCH_FAILED, FallbackReason.OUT_OF_MEMORY), told);
      try (VamanaGraph graph = engine.build(task)) {
        GraphChecks.assertWellFormed(graph, task.size());
      }
      driver.fail(FaultyDriver.Operation.LAUNCH, 5, GpuException.Kind.CONTEXT_LOST);
      assertNull(engine.build(task));
      assertEquals(3, counter(executor, "graphs_on_cpu", "failed"));
    }
  }
}
