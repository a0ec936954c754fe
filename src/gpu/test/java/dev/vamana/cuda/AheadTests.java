package dev.vamana.cuda;

import dev.vamana.cuda.ahead.Ahead;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.Walks;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/** Tests the memory of answers that wait for their calls. */
public class AheadTests extends GpuTestCase {
  private static final int SEGMENTS = 6;
  private static final int K = 100;
  private static final int SIZE = 120;

  /** Bytes of the answers that are sent ahead for a query. */
  private static final long ANSWERS = (SEGMENTS - 1) * (128L + 8 * K);

  private final List<Integer> calls = new ArrayList<>();
  private List<SegmentView> views;

  private static TestIndex index() throws IOException {
    return index(SIZE);
  }

  private static TestIndex index(int segmentSize) throws IOException {
    return new TestIndex(
        VectorEncoding.FLOAT32,
        VectorSimilarityFunction.EUCLIDEAN,
        4,
        segmentSize * SEGMENTS,
        SEGMENTS);
  }

  private static WorkItem item(SegmentView view, float[] query) {
    return item(view, query, K);
  }

  private static WorkItem item(SegmentView view, float[] query, int k) {
    return Walks.item(view, QueryVector.of(query), k, WalkParameters.exact(k));
  }

  private WorkResult ask(Ahead ahead, int segment, float[] query) throws IOException {
    return ahead.search(item(views.get(segment), query), this::answer);
  }

  private List<WorkResult> answer(List<WorkItem> items, Runnable alone) throws IOException {
    calls.add(items.size());
    List<WorkResult> results = new ArrayList<>();
    for (WorkItem item : items) {
      results.add(CpuExecutor.search(item));
    }
    return results;
  }

  private void askAll(Ahead ahead, float[] query) throws IOException {
    for (int segment = 0; segment < SEGMENTS; segment++) {
      assertEquals(K, ask(ahead, segment, query).ordinals().length);
    }
  }

  /** The oldest queries make room; without room, queries are searched segment by segment. */
  public void testBoundByBytes() throws IOException {
    try (TestIndex index = index()) {
      views = index.views();
      long limit = 40 * ANSWERS;
      Ahead ahead = new Ahead(true, limit);
      for (int i = 0; i < 2_000; i++) {
        // a query that searches all segments keeps the habit alive
        if (i % 2 == 0) {
          askAll(ahead, index.vector().floats());
        } else {
          ask(ahead, 0, index.vector().floats());
        }
        assertTrue(ahead.waitingBytes() <= limit);
      }
      long sent = ahead.totals().get("sent");
      assertTrue("sent " + sent, sent > 5 * 500);
      ahead.enable(false);
      assertEquals(0, ahead.waitingBytes());
    }
  }

  /** Ends a query while its answers are under way. */
  public void testWhatLandsLate() throws IOException {
    try (TestIndex index = index()) {
      views = index.views();
      for (int way = 0; way < 4; way++) {
        int how = way;
        Ahead ahead = new Ahead(true);
        askAll(ahead, index.vector().floats());
        float[] query = index.vector().floats();
        ahead.search(
            item(views.get(0), query),
            (items, alone) -> {
              if (items.size() == 1) {
                return answer(items, alone);
              }
              assertEquals(ANSWERS, ahead.waitingBytes());
              switch (how) {
                case 0 -> ahead.enable(false);
                case 1 -> ahead.closing(views.get(1));
                case 2 -> throw new IOException("under way");
                default -> ask(ahead, 0, query);
              }
              return answer(items, alone);
            });
        if (how == 3) {
          // the second query with the same array has its own answers
          ahead.enable(false);
        }
        assertEquals("way " + how, 0, ahead.waitingBytes());
      }
    }
  }
}
