package dev.vamana.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.search.TopDocs;

/** Items of batched searches that an executor and then the CPU answers. */
public class RepeatedItemsTests extends SearchTestCase {

  private static final int SIZE = 1_000;
  private static final int QUERIES = 25;
  private static final int K = 10;

  /** Items whose visit limit ended the executor's walk are scanned, and counted as repeated. */
  public void testRepeatedItemsAreCounted() throws IOException {
    Set<QueryVector> ended = new HashSet<>();
    AtomicInteger endings = new AtomicInteger();
    SearchExecutor executor =
        new RecordingExecutor() {
          @Override
          public List<WorkResult> search(List<WorkItem> batch) throws IOException {
            List<WorkResult> results = new ArrayList<>(super.search(batch));
            for (int i = 0; i < results.size(); i++) {
              if (ended.contains(batch.get(i).query())) {
                results.set(i, new WorkResult(new int[0], new float[0], 1, false));
                endings.incrementAndGet();
              }
            }
            return results;
          }
        };
    int segments = 1 + random().nextInt(3);
    try (TestIndex index =
            new TestIndex(
                TestVectors.clustered(random(), randomEncoding(), randomSimilarity(), SIZE, 16),
                graphs(),
                segments);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> executor)) {
      assertSame(executor, installation.executor());
      List<QueryVector> queries =
          permutation(SIZE, random()).subList(0, QUERIES).stream().map(index.vectors::get).toList();
      long before = ExecutorRegistry.cpuSearches().count(CpuSearches.Reason.REPEATED);
      batch(queries, index);
      assertEquals(before, ExecutorRegistry.cpuSearches().count(CpuSearches.Reason.REPEATED));
      ended.addAll(queries.subList(0, random().nextInt(QUERIES)));
      TopDocs[] found = batch(queries, index);
      assertEquals(
          before + endings.get(),
          ExecutorRegistry.cpuSearches().count(CpuSearches.Reason.REPEATED));
      for (TopDocs hits : found) {
        assertEquals(K, hits.scoreDocs.length);
      }
      // a search that is given up is not repeated
      index.searcher.setTimeout(() -> true);
      batch(queries, index);
      assertEquals(
          "repeats of searches without time",
          before + endings.get() - ended.size() * segments,
          ExecutorRegistry.cpuSearches().count(CpuSearches.Reason.REPEATED));
    }
  }

  private static TopDocs[] batch(List<QueryVector> queries, TestIndex index) throws IOException {
    WalkParameters walk = WalkParameters.defaults(K);
    return new BatchedKnn(index.searcher).search(FIELD, queries, walk, K, null);
  }
}
