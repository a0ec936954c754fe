package dev.vamana.tools.gpu;

import dev.vamana.tools.callers.Callers;
import dev.vamana.tools.datasets.Recall;
import java.io.IOException;
import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.search.AcceptDocs;

/**
 * Measures Lucene's HNSW with the parameters of Elasticsearch at the recalls of the GPU's
 * measurements, on one thread and on all processors: with the reader's search directly, without a
 * query around it.
 */
final class LuceneStage implements Stage {

  static final String METHOD = "lucene-m16-b100";
  private static final int WARM_UP = 500;
  private static final int LEAST = 20;

  private final String setName;

  LuceneStage(String setName) {
    this.setName = setName;
  }

  @Override
  public void run(Context context) throws IOException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    try (SetIndex index = index(context, set)) {
      measure(context, set, index);
    }
  }

  /** Opens an index with Lucene's HNSW that all processors have built, and records its build. */
  static SetIndex index(Context context, SuiteSet set) throws IOException {
    int threads = context.workers().threads();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try {
      SetIndex index =
          SetIndex.open(
              context.index(set.index(METHOD)),
              set,
              new Lucene99HnswVectorsFormat(16, 100, threads, threads > 1 ? pool : null),
              1,
              threads);
      context.built(set.subject(), METHOD + " index", threads, index.buildSeconds());
      return index;
    } finally {
      pool.shutdownNow();
    }
  }

  private static void measure(Context context, SuiteSet set, SetIndex index) throws IOException {
    LeafReader leaf = index.leaf();
    // several writers: documents are not in the order of the rows
    int[] rows = new int[leaf.maxDoc()];
    for (int doc = 0; doc < rows.length; doc++) {
      rows[doc] =
          leaf.storedFields().document(doc).getField(SuiteSet.ROW).numericValue().intValue();
    }
    Recall recall = new Recall(set.vectors(), BenchStage.K);
    float[][] queries = set.vectors().queries().rows();
    int all = context.workers().threads();
    BeamSweep sweep =
        BeamSweep.run(
            BeamSweep.ENOUGH,
            width -> {
              int[][] hits = new int[queries.length][];
              Callers.together(
                  all,
                  id -> {
                    for (int q = id; q < queries.length; q += all) {
                      hits[q] =
                          Arrays.stream(search(leaf, queries[q], width))
                              .map(d -> rows[d])
                              .toArray();
                    }
                    return null;
                  });
              return recall.of(hits);
            });
    context.say("%s %s: recalls by beam %s", set.subject().set(), METHOD, sweep.recalls());
    double seconds = context.options().seconds();
    for (int width : sweep.beams()) {
      for (int threads : new int[] {1, all}) {
        Callers.Opener asking =
            id -> number -> search(leaf, queries[(id * 53 + number) % queries.length], width);
        // enough queries for the code to be compiled
        Callers.loop(threads, 0, Math.min(queries.length, WARM_UP), asking);
        context.searched(
            set.subject(),
            METHOD,
            Lane.CPU,
            1,
            threads,
            sweep.recalls().get(width),
            Callers.loop(threads, 4 * seconds, LEAST, asking).micros());
      }
    }
  }

  private static int[] search(LeafReader leaf, float[] query, int width) throws IOException {
    return Arrays.stream(
            leaf.searchNearestVectors(
                    SetIndex.FIELD,
                    query,
                    width,
                    AcceptDocs.fromLiveDocs(null, leaf.maxDoc()),
                    Integer.MAX_VALUE)
                .scoreDocs)
        .limit(BenchStage.K)
        .mapToInt(hit -> hit.doc)
        .toArray();
  }
}
