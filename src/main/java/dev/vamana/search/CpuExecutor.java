package dev.vamana.search;

import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/** Searches batches on the CPU: the reference implementation of the seam. */
public final class CpuExecutor implements SearchExecutor {

  private final Workers workers;

  /**
   * Makes an executor.
   *
   * @param workers threads that share the items of a batch
   */
  public CpuExecutor(Workers workers) {
    this.workers = workers;
  }

  @Override
  public String name() {
    return "cpu";
  }

  @Override
  public List<WorkResult> search(List<WorkItem> batch) throws IOException {
    WorkResult[] results = new WorkResult[batch.size()];
    workers.forEach(
        0,
        results.length,
        () -> index -> results[index] = search(batch.get(index)),
        AbortCheck.NEVER);
    return Arrays.asList(results);
  }

  /** Searches one item on the calling thread. */
  static WorkResult search(WorkItem item) throws IOException {
    int accepted = Math.min(item.acceptedCount(), item.segment().size());
    int beam = Math.max(item.k(), item.walk().beamWidth());
    if (SearchPlan.scan(item.segment(), beam, accepted)) {
      return scan(item);
    }
    WorkResult result = new ReferenceWalk(item).run();
    if (result.complete() && result.ordinals().length < Math.min(item.k(), accepted)) {
      return scan(item);
    }
    return result;
  }

  private static WorkResult scan(WorkItem item) throws IOException {
    RandomVectorScorer scorer = item.segment().scorer(item.query());
    int k = Math.min(item.k(), item.segment().size());
    if (k == 0) {
      return new WorkResult(new int[0], new float[0], 0, true);
    }
    KnnCollector collector =
        new CancellableCollector(
            new TopKnnCollector(k, toInt(item.visitLimit())), item.cancelled());
    new ExactScan(scorer, collector).run(item.acceptedOrdinals());
    ScoreDoc[] hits = collector.topDocs().scoreDocs;
    int[] ordinals = new int[hits.length];
    float[] scores = new float[hits.length];
    for (int i = 0; i < hits.length; i++) {
      ordinals[i] = hits[i].doc;
      scores[i] = hits[i].score;
    }
    return new WorkResult(
        ordinals, scores, collector.visitedCount(), collector.earlyTerminated() == false);
  }

  private static int toInt(long limit) {
    return (int) Math.min(Integer.MAX_VALUE, limit);
  }

  @Override
  public void close() {}
}
