package dev.vamana.tools.gpu;

import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.tools.callers.Callers;
import dev.vamana.tools.figures.Sheet;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;

/**
 * Measures searches with filters, by the share of accepted vectors and by how they lie to the
 * query, beside Lucene's HNSW with the parameters of Elasticsearch. Every query has a filter of its
 * own, and many callers ask.
 */
final class FilterStage implements Stage {

  private static final int NUM_CANDIDATES = 100;
  private static final int QUERIES = 100;
  private static final double[] SHARES = {0.5, 0.1, 0.01, 0.001, 0.0001};
  private static final int CALLERS = 64;

  private final String setName;

  FilterStage(String setName) {
    this.setName = setName;
  }

  /** Filters of one kind. */
  private record Cell(double share, Filtering.Kind kind, Filtering filters) {}

  private record Found(double recall, double qps) {}

  @Override
  public void run(Context context) throws IOException, InterruptedException {
    SuiteSet set = SuiteSet.load(context.options(), setName);
    int[][] orders =
        Filtering.orders(set.vectors(), Math.min(QUERIES, set.vectors().queries().size()));
    List<Cell> cells = new ArrayList<>();
    for (double share : SHARES) {
      for (Filtering.Kind kind : Filtering.Kind.values()) {
        cells.add(new Cell(share, kind, Filtering.of(orders, kind, share, BenchStage.K)));
      }
    }
    KnnVectorsFormat ours = new VamanaVectorsFormat(context.parameters(), context.workers());
    try (SetIndex index = index(context, set, "vamana", ours);
        SetIndex hnsw = index(context, set, "hnsw-1", new Lucene99HnswVectorsFormat(16, 100))) {
      Map<Cell, Found> stock = measure(context, set, cells, hnsw.searcher());
      for (Placement placement :
          Lane.placements(context.options(), List.of(Placement.EXACT, Placement.EXACT_INT8))) {
        try (Lane lane = Lane.open(context, "vamana", placement, index.views());
            ExecutorRegistry.Installation installed = ExecutorRegistry.install(lane::executor)) {
          context.say("%s by %s", lane.name(), installed.executor().name());
          Map<Cell, Found> found = measure(context, set, cells, index.searcher());
          for (Cell cell : cells) {
            add(context, set, lane.name(), cell, found.get(cell), stock.get(cell));
          }
        }
      }
    }
  }

  private static SetIndex index(Context context, SuiteSet set, String name, KnnVectorsFormat format)
      throws IOException {
    return SetIndex.open(context.index(set.index(name)), set, format, 1, 1);
  }

  private static void add(
      Context context, SuiteSet set, String placement, Cell cell, Found found, Found stock)
      throws IOException {
    String kind = cell.kind().name().toLowerCase(Locale.ROOT);
    context.say("%s %s %s: %s, stock %s", placement, cell.share(), kind, found, stock);
    context
        .figures()
        .add(
            Sheet.FILTERS,
            set.subject(),
            placement,
            cell.share(),
            kind,
            found.recall(),
            found.qps(),
            stock.recall(),
            stock.qps());
  }

  private static Map<Cell, Found> measure(
      Context context, SuiteSet set, List<Cell> cells, IndexSearcher searcher)
      throws IOException, InterruptedException {
    searcher.setQueryCache(null);
    Map<Cell, Found> all = new HashMap<>();
    // the first round compiles the code of all plans
    for (int round = 0; round < 2; round++) {
      for (Cell cell : cells) {
        all.put(cell, ask(set, searcher, cell.filters(), context.options().seconds()));
      }
    }
    return all;
  }

  private static Found ask(SuiteSet set, IndexSearcher searcher, Filtering filters, double seconds)
      throws IOException, InterruptedException {
    int queries = filters.nearest().length;
    long good = 0;
    for (int q = 0; q < queries; q++) {
      good += filters.good(set.vectors(), q, search(set, searcher, filters, q));
    }
    Callers.Times times =
        Callers.loop(
            CALLERS,
            seconds,
            1,
            id -> number -> search(set, searcher, filters, (id * 37 + number) % queries));
    return new Found(good / (double) (queries * BenchStage.K), times.perSecond());
  }

  private static ScoreDoc[] search(SuiteSet set, IndexSearcher searcher, Filtering filters, int q)
      throws IOException {
    return searcher.search(
            new KnnFloatVectorQuery(
                SetIndex.FIELD,
                set.vectors().queries().rows()[q],
                NUM_CANDIDATES,
                new AcceptQuery(filters.accepted()[q])),
            BenchStage.K)
        .scoreDocs;
  }
}
