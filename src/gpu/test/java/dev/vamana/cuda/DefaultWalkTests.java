package dev.vamana.cuda;

import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.BatchedKnn;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;

/** Tests the walk of queries that specify no parameters. */
public class DefaultWalkTests extends GpuTestCase {

  private static final int NARROWEST = 12;
  private static final int NARROW = 20;
  private static final int WIDE = 40;
  private static final int SIZE = 2_000;
  private static final int QUERIES = 20;

  private interface Search {
    List<TopDocs> search(IndexSearcher searcher, float[][] queries, int k) throws Exception;
  }

  private static List<WorkItem> items(
      SegmentView view, float[][] queries, int k, WalkParameters walk) {
    List<WorkItem> items = new ArrayList<>();
    for (float[] query : queries) {
      items.add(
          new WorkItem(
              view,
              QueryVector.of(query),
              k,
              walk,
              null,
              view.size(),
              Long.MAX_VALUE,
              () -> false,
              new int[0]));
    }
    return items;
  }

  private static WorkResult result(TopDocs hits) {
    int[] docs = new int[hits.scoreDocs.length];
    float[] scores = new float[docs.length];
    for (int i = 0; i < docs.length; i++) {
      ScoreDoc hit = hits.scoreDocs[i];
      docs[i] = hit.doc;
      scores[i] = hit.score;
    }
    return new WorkResult(docs, scores, 0, true);
  }

  /**
   * The CPU's walk of the same parameters finds the same; of one parent it has more steps, or as
   * many where one parent is the default.
   *
   * @param least steps in parts of those with one parent
   * @param most likewise
   */
  private static void assertParentsAStep(Search search, int k, double least, double most)
      throws Exception {
    SimulatedDriver driver = driver();
    try (TestIndex index =
            new TestIndex(VectorEncoding.FLOAT32, VectorSimilarityFunction.EUCLIDEAN, 16, SIZE, 1);
        ExecutorRegistry.Installation installation =
            ExecutorRegistry.install(
                () ->
                    openAtOnce(
                        WALKS.withBatches(BATCHES),
                        () -> driver,
                        everything(Placement.EXACT),
                        new QuietListener()))) {
      GpuExecutor executor = (GpuExecutor) installation.executor();
      SegmentView view = index.views().get(0);
      float[][] queries = new float[QUERIES][];
      for (int i = 0; i < QUERIES; i++) {
        queries[i] = index.vector().floats();
      }
      List<WorkResult> found =
          search.search(new IndexSearcher(index.reader), queries, k).stream()
              .map(DefaultWalkTests::result)
              .toList();
      long steps = executor.statistics().counter("batches", "steps");
      assertSame(onCpu(items(view, queries, k, executor.defaultWalk(k))), found, 0.98);
      executor.search(items(view, queries, k, WalkParameters.defaults(k)));
      long stepsOfOneParent = executor.statistics().counter("batches", "steps") - steps;
      double part = steps / (double) stepsOfOneParent;
      assertTrue(steps + " steps of " + stepsOfOneParent, part >= least && part <= most);
    }
  }

  private static List<TopDocs> luceneQueries(IndexSearcher searcher, float[][] queries, int k)
      throws IOException {
    List<TopDocs> found = new ArrayList<>();
    for (float[] query : queries) {
      found.add(searcher.search(new KnnFloatVectorQuery(FIELD, query, k), k));
    }
    return found;
  }

  private static List<TopDocs> batch(IndexSearcher searcher, float[][] queries, int k)
      throws IOException {
    return List.of(new BatchedKnn(searcher).search(FIELD, queries, k, null));
  }

  public void testLuceneQueries() throws Exception {
    assertParentsAStep(DefaultWalkTests::luceneQueries, NARROWEST, 1, 1);
    assertParentsAStep(DefaultWalkTests::luceneQueries, NARROW, 0.45, 0.75);
    assertParentsAStep(DefaultWalkTests::luceneQueries, WIDE, 0.2, 0.5);
  }

  public void testBatches() throws Exception {
    assertParentsAStep(DefaultWalkTests::batch, NARROWEST, 1, 1);
    assertParentsAStep(DefaultWalkTests::batch, NARROW, 0.45, 0.75);
    assertParentsAStep(DefaultWalkTests::batch, WIDE, 0.2, 0.5);
  }
}
