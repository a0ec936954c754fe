package dev.vamana.cuda;

import dev.vamana.cuda.ahead.Ahead;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/** Tests the memory of answers that wait for their calls. */
public class AheadMemoryTests extends GpuTestCase {
  private static final int SEGMENTS = 6;
  private static final int K = 100;
  private static final int SIZE = 120;
  private static final long BLOCK = 1 << 20;

  /** Least bytes that an answer counts as. */
  private static final int ANSWER_BYTES = 8 * K;

  /** Refuses bytes above a limit, and fails if a caller releases more bytes than it reserved. */
  private static final class Account implements HostMemoryAccount {
    private long limit = Long.MAX_VALUE;
    private long used;

    @Override
    public synchronized boolean reserve(long bytes) {
      if (used + bytes > limit) {
        return false;
      }
      used += bytes;
      return true;
    }

    @Override
    public synchronized void release(long bytes) {
      used -= bytes;
      assertTrue("gave back too much", used >= 0);
    }

    synchronized long used() {
      return used;
    }
  }

  private final Account account = new Account();
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
    return new WorkItem(
        view,
        QueryVector.of(query),
        k,
        WalkParameters.exact(k),
        null,
        view.size(),
        Long.MAX_VALUE,
        () -> false,
        new int[0]);
  }

  private WorkResult ask(Ahead ahead, int segment, float[] query) throws IOException {
    return ahead.search(item(views.get(segment), query), this::answer, false);
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

  /** Each answer counts from the call that sends its item until the call that takes it. */
  public void testAnswersAreCountedUntilTheyAreTaken() throws IOException {
    try (TestIndex index = index()) {
      views = index.views();
      Ahead ahead = new Ahead(true, account);
      askAll(ahead, index.vector().floats());
      assertEquals("nothing was sent", 0, account.used());
      float[] query = index.vector().floats();
      ask(ahead, 0, query);
      assertEquals("five answers", BLOCK, account.used());
      for (int segment = 1; segment < SEGMENTS; segment++) {
        assertEquals(BLOCK, account.used());
        ask(ahead, segment, query);
      }
      assertEquals(0, account.used());
      assertEquals(5, (long) ahead.totals().get("used"));
    }
  }

  /** Queries that end early leave answers; every way to forget a query releases them. */
  public void testAnswersThatNobodyAsksForAnyMore() throws IOException {
    try (TestIndex index = index()) {
      views = index.views();
      List<Runnable> ends = new ArrayList<>();
      Ahead ahead = new Ahead(true, account);
      ends.add(() -> ahead.enable(false));
      ends.add(() -> ahead.closing(views.get(3)));
      ends.add(() -> ahead.closing(views.get(0)));
      for (Runnable end : ends) {
        ahead.enable(true);
        askAll(ahead, index.vector().floats());
        for (int i = 0; i < 3; i++) {
          ask(ahead, 0, index.vector().floats());
        }
        assertEquals(BLOCK, account.used());
        end.run();
        assertEquals(0, account.used());
      }
    }
  }

  /** The oldest queries make room; without room, queries are searched segment by segment. */
  public void testBoundByBytes() throws IOException {
    try (TestIndex index = index()) {
      views = index.views();
      long limit = 40 * 5 * (ANSWER_BYTES + 128);
      Ahead ahead = new Ahead(true, account, limit);
      for (int i = 0; i < 2_000; i++) {
        // a query that searches all segments keeps the habit alive
        if (i % 2 == 0) {
          askAll(ahead, index.vector().floats());
        } else {
          ask(ahead, 0, index.vector().floats());
        }
        assertTrue(account.used() <= (limit + BLOCK - 1) / BLOCK * BLOCK);
      }
      long sent = ahead.totals().get("sent");
      assertTrue("sent " + sent, sent > 5 * 500);
      ahead.enable(false);
      assertEquals(0, account.used());
    }
  }

  public void testAccountThatRefuses() throws IOException {
    try (TestIndex index = index()) {
      views = index.views();
      Ahead ahead = new Ahead(true, account);
      askAll(ahead, index.vector().floats());
      account.limit = BLOCK / 2;
      calls.clear();
      askAll(ahead, index.vector().floats());
      assertEquals("one by one", List.of(1, 1, 1, 1, 1, 1), calls);
      assertEquals(0, (long) ahead.totals().get("sent"));
      account.limit = Long.MAX_VALUE;
      calls.clear();
      askAll(ahead, index.vector().floats());
      assertEquals("together again", List.of(SEGMENTS), calls);
      assertEquals(0, account.used());
    }
  }

  /**
   * If the device leaves all other segments alone, their calls do not wait for the first segment's
   * answer, and the next queries send nothing.
   */
  public void testLeftAlone() throws Exception {
    try (TestIndex index = index()) {
      views = index.views();
      Ahead ahead = new Ahead(true, account);
      askAll(ahead, index.vector().floats());
      calls.clear();
      float[] query = index.vector().floats();
      WorkResult first =
          ahead.search(
              item(views.get(0), query),
              (items, alone) -> {
                assertEquals(SEGMENTS, items.size());
                alone.run();
                assertEquals("nothing is kept", 0, account.used());
                for (int segment = 1; segment < SEGMENTS; segment++) {
                  assertEquals(K, ask(ahead, segment, query).ordinals().length);
                }
                List<WorkResult> results = new ArrayList<>(Collections.nCopies(SEGMENTS, null));
                results.set(0, CpuExecutor.search(items.get(0)));
                return results;
              },
              false);
      assertEquals(K, first.ordinals().length);
      assertEquals(Collections.nCopies(SEGMENTS - 1, 1), calls);
      calls.clear();
      int queries = 0;
      while (calls.contains(SEGMENTS) == false) {
        askAll(ahead, index.vector().floats());
        queries++;
      }
      assertEquals("fifteen queries rest", 16, queries);
      assertEquals("only what is sent counts", SEGMENTS - 1, (long) ahead.totals().get("sent"));
      assertEquals(SEGMENTS - 1, (long) ahead.totals().get("used"));
      assertEquals(0, account.used());
    }
  }

  /** Ends a query while its answers are under way. */
  public void testWhatLandsLate() throws IOException {
    try (TestIndex index = index()) {
      views = index.views();
      for (int way = 0; way < 4; way++) {
        int how = way;
        Ahead ahead = new Ahead(true, account);
        askAll(ahead, index.vector().floats());
        float[] query = index.vector().floats();
        ahead.search(
            item(views.get(0), query),
            (items, alone) -> {
              if (items.size() == 1) {
                return answer(items, alone);
              }
              assertEquals(BLOCK, account.used());
              switch (how) {
                case 0 -> ahead.enable(false);
                case 1 -> ahead.closing(views.get(1));
                case 2 -> throw new IOException("under way");
                default -> ask(ahead, 0, query);
              }
              return answer(items, alone);
            },
            false);
        if (how == 3) {
          // the second query with the same array has its own answers
          ahead.enable(false);
        }
        assertEquals("way " + how, 0, account.used());
      }
    }
  }

  /** On the device, answers count in addition to pinned memory, and are released. */
  public void testOnTheDevice() throws IOException {
    SimulatedDriver driver = driver();
    // large enough for walks
    try (TestIndex index = index(400);
        GpuExecutor executor =
            GpuDevice.open(
                () -> driver,
                ResidencyOptions.defaults(DEVICE_BYTES).withPlacement(Placement.EXACT),
                WALKS
                    .withBatches(BATCHES.withSegmentsAhead(true))
                    .withWaitForUpload(true)
                    .withHostMemory(account),
                new QuietListener())) {
      views = index.views();
      views.forEach(executor::opened);
      for (int round = 0; round < 2; round++) {
        float[] query = index.vector().floats();
        for (SegmentView view : views) {
          executor.search(List.of(item(view, query, 10)));
        }
      }
      long pinned = account.used();
      float[] query = index.vector().floats();
      executor.search(List.of(item(views.get(0), query, 10)));
      assertEquals(pinned + BLOCK, account.used());
      for (int segment = 1; segment < SEGMENTS; segment++) {
        executor.search(List.of(item(views.get(segment), query, 10)));
      }
      assertEquals(pinned, account.used());
      executor.search(List.of(item(views.get(0), index.vector().floats(), 10)));
      assertEquals(pinned + BLOCK, account.used());
      executor.closing(views.get(2));
      assertEquals(pinned, account.used());
      executor.search(List.of(item(views.get(0), index.vector().floats(), 10)));
      executor.close();
      assertEquals(0, account.used());
    }
  }
}
