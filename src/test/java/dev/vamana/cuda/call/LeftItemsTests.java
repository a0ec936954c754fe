package dev.vamana.cuda.call;

import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.api.FallbackReason;
import dev.vamana.cuda.api.GpuListener;
import dev.vamana.cuda.driver.DeviceInfo;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.plan.Contest;
import dev.vamana.cuda.session.ExecutorCounters;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.NamedThreadFactory;

/** Counts items over a real segment, by a clock that stands still in between. */
public class LeftItemsTests extends LuceneTestCase {

  private static final int SIZE = 50;
  private static final int K = 5;
  private static final long PLANNED_AGAIN = TimeUnit.MILLISECONDS.toNanos(100);
  private static final long FORGOTTEN = TimeUnit.MILLISECONDS.toNanos(300);

  private static final int WORK = 1_000;

  /** Most items that one on the same thread stands for. */
  private static final int STANDS_FOR = 20;

  private final AtomicLong clock = new AtomicLong(random().nextLong());
  private final Contests contests = new Contests(clock::get);
  private final ExecutorCounters counters = new ExecutorCounters(new Silent());
  private final LeftItems left = new LeftItems(contests, counters);
  private Directory directory;
  private DirectoryReader reader;
  private WorkItem item;

  @Override
  public void setUp() throws Exception {
    super.setUp();
    directory = newDirectory();
    IndexWriterConfig config =
        new IndexWriterConfig()
            .setCodec(TestUtil.alwaysKnnVectorsFormat(new VamanaVectorsFormat()));
    try (IndexWriter writer = new IndexWriter(directory, config)) {
      for (int i = 0; i < SIZE; i++) {
        Document document = new Document();
        document.add(
            new KnnFloatVectorField("v", new float[] {random().nextFloat(), random().nextFloat()}));
        writer.addDocument(document);
      }
      writer.forceMerge(1);
    }
    reader = DirectoryReader.open(directory);
    KnnVectorsReader vectors = ((CodecReader) reader.leaves().get(0).reader()).getVectorReader();
    if (vectors instanceof PerFieldKnnVectorsFormat.FieldsReader perField) {
      vectors = perField.getFieldReader("v");
    }
    SegmentView segment = ((SegmentViews) vectors).view("v");
    item =
        new WorkItem(
            segment,
            QueryVector.of(new float[] {1, 1}),
            K,
            WalkParameters.defaults(K),
            null,
            SIZE,
            Long.MAX_VALUE,
            () -> false,
            new int[0]);
    remember();
  }

  @Override
  public void tearDown() throws Exception {
    reader.close();
    directory.close();
    super.tearDown();
  }

  /** Nothing fails here. */
  private static final class Silent implements GpuListener {
    @Override
    public void fallback(FallbackReason reason, String detail) {}

    @Override
    public void lost(GpuException cause, long retryMillis) {}

    @Override
    public void stillLost(GpuException cause, long retryMillis) {}

    @Override
    public void recovered(DeviceInfo device) {}
  }

  private void remember() {
    contests.remember(item, new Contest(WORK, false), CpuExecutor.Way.SCAN, clock.get());
  }

  private SearchExecutor.LeftScan begin() {
    return left.begin(item.segment(), contests.find(item));
  }

  private long sum(String group) {
    SortedMap<String, Long> counts = counters.groups().get(group);
    return counts.values().stream().mapToLong(Long::longValue).sum();
  }

  private void assertCounted(long items) {
    assertEquals(items, (long) counters.groups().get("items").get("requested"));
    assertEquals(items, (long) counters.groups().get("items_on_cpu").get("scan"));
    assertEquals(items, sum("items_on_cpu"));
    assertEquals(items, sum("plan_calls"));
    assertEquals(items, (long) counters.groups().get("plan_items").get("cpu"));
  }

  /** Answers items one after the other, each of which takes so long. */
  private void answer(int items, long nanos) {
    for (int i = 0; i < items; i++) {
      SearchExecutor.LeftScan begun = null;
      while (begun == null) {
        Contests.Known known = contests.find(item);
        // other threads may have taken so long that it was forgotten
        begun = known == null ? null : left.begin(item.segment(), known);
        if (begun == null) {
          remember();
        }
      }
      clock.addAndGet(nanos);
      begun.ended();
    }
  }

  public void testEveryOneOfFewItemsIsCompared() {
    int items = 3_000;
    answer(items, 100_000);
    assertCounted(items);
    assertEquals(items, sum("plan_percent_cpu"));
    assertEquals(items * 100L, sum("plan_measured_micros"));
  }

  public void testOneOfManyItemsIsCompared() {
    // the first windows tell that they are many
    answer(500_000, 1_000);
    long measured = sum("plan_measured_micros");
    long ratios = sum("plan_percent_cpu");
    int items = 300_000;
    int compared = 0;
    for (int i = 0; i < items; i += 1_000) {
      long before = sum("plan_percent_cpu");
      answer(1, 1_000);
      compared += sum("plan_percent_cpu") > before ? 1 : 0;
      answer(999, 1_000);
    }
    assertTrue("compared " + compared, compared < 60);
    assertCounted(500_000 + items);
    // others are neither left out nor counted twice
    assertEquals(items, sum("plan_percent_cpu") - ratios, STANDS_FOR);
    assertEquals(items, sum("plan_measured_micros") - measured, STANDS_FOR);
    assertEquals(800_000, sum("plan_percent_cpu"), STANDS_FOR);
  }

  /**
   * A segment may be a hundred times as large as the others of its shard, and is compared as often.
   */
  public void testWorkOfItemsThatAreNotCompared() {
    int large = 100;
    WorkItem other =
        new WorkItem(
            item.segment(),
            item.query(),
            K + 1,
            item.walk(),
            null,
            SIZE,
            Long.MAX_VALUE,
            item.cancelled(),
            new int[0]);
    int segments = TestUtil.nextInt(random(), 30, 50);
    // the CPU answers only when some windows have told the load
    answer(1_500_000, 500);
    long measured = sum("plan_measured_micros");
    long predicted = sum("plan_predicted_micros");
    long start = clock.get();
    for (int i = 0; i < 300_000; i++) {
      remember();
      contests.remember(other, new Contest(WORK * large, false), CpuExecutor.Way.SCAN, clock.get());
      boolean isLarge = i % segments == 0;
      SearchExecutor.LeftScan begun =
          left.begin(item.segment(), contests.find(isLarge ? other : item));
      clock.addAndGet(isLarge ? 500L * large : 500L);
      begun.ended();
    }
    double elapsed = (clock.get() - start) / 1e3;
    assertEquals(elapsed, sum("plan_measured_micros") - measured, 0.01 * elapsed);
    // the controller has found that it takes half of the predicted time
    assertEquals(elapsed, sum("plan_predicted_micros") - predicted, 0.1 * elapsed);
  }

  public void testThreads() throws Exception {
    int threads = TestUtil.nextInt(random(), 2, 8);
    int items = 50_000;
    ExecutorService pool = Executors.newFixedThreadPool(threads, new NamedThreadFactory("left"));
    try {
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int i = 0; i < threads; i++) {
        tasks.add(
            () -> {
              answer(items, 1_000);
              return null;
            });
      }
      for (Future<Void> done : pool.invokeAll(tasks)) {
        done.get();
      }
    } finally {
      pool.shutdown();
    }
    assertCounted((long) threads * items);
    long stoodFor = sum("plan_percent_cpu");
    assertEquals((double) threads * items, stoodFor, threads * STANDS_FOR);
  }

  /** Planning an item takes longer than answering it, so one thread does, until it has. */
  public void testOneThreadPlansAgain() throws Exception {
    ExecutorService other = Executors.newSingleThreadExecutor(new NamedThreadFactory("other"));
    try {
      assertNotNull(begin());
      clock.addAndGet(PLANNED_AGAIN - 1);
      assertNotNull(begin());
      clock.addAndGet(1);
      assertNull("the first that asks", begin());
      assertNull("it asks again on the way to the plan", begin());
      assertNotNull(other.submit(this::begin).get());
      remember();
      assertNotNull(begin());
      clock.addAndGet(PLANNED_AGAIN);
      assertNull(other.submit(this::begin).get());
      assertNotNull(begin());
    } finally {
      other.shutdown();
    }
  }

  /** What is not contested any more is not remembered again. */
  public void testForgottenIfNobodyRemembersItAgain() {
    clock.addAndGet(PLANNED_AGAIN);
    assertNull(begin());
    clock.addAndGet(FORGOTTEN - PLANNED_AGAIN);
    assertNotNull(contests.find(item));
    assertNull(begin());
    assertNull(contests.find(item));
    remember();
    assertNotNull(begin());
  }
}
