package dev.vamana.cuda;

import dev.vamana.cuda.api.GpuStatistics;
import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.Placement;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.cuda.plan.PlanMode;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.document.IntField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnByteVectorQuery;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.Bits;

/** Tests Lucene queries over several segments, whose searches are sent to the device together. */
public class SegmentsAheadTests extends GpuTestCase {

  private static final int K = 10;

  private ExecutorRegistry.Installation installation;
  private GpuExecutor executor;

  private void open(Supplier<CudaDriver> drivers) {
    installation =
        ExecutorRegistry.install(
            () ->
                GpuExecutor.open(
                    drivers,
                    ResidencyOptions.defaults(1L << 30).withPlacement(Placement.EXACT),
                    WALKS
                        .withBatches(BATCHES.withSegmentsAhead(true))
                        .withWaitForUpload(true)
                        .withTimes(times -> times.retry(1_000_000, 8_000_000)),
                    new QuietListener()));
    executor = (GpuExecutor) installation.executor();
  }

  private void open() {
    CudaDriver driver = driver();
    open(() -> driver);
  }

  @Override
  public void tearDown() throws Exception {
    if (installation != null) {
      installation.close();
    }
    super.tearDown();
  }

  private void sendAhead(boolean ahead) {
    executor.adjust(dynamic(ahead, true, PlanMode.GRAPH));
  }

  private long ahead(String name) {
    return executor.statistics().counter("segments_ahead", name);
  }

  private long launches() {
    return executor.statistics().counter("batches", "launches");
  }

  private static Query query(QueryVector vector, Query filter) {
    return vector.floats() != null
        ? new KnnFloatVectorQuery(FIELD, vector.floats(), K, filter)
        : new KnnByteVectorQuery(FIELD, vector.bytes(), K, filter);
  }

  private static List<QueryVector> vectors(TestIndex index, int count) {
    List<QueryVector> vectors = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      vectors.add(index.vector());
    }
    return vectors;
  }

  private static List<TopDocs> ask(IndexReader reader, List<QueryVector> vectors, Query filter)
      throws IOException {
    IndexSearcher searcher = new IndexSearcher(reader);
    List<TopDocs> found = new ArrayList<>();
    for (QueryVector vector : vectors) {
      found.add(searcher.search(query(vector, filter), K));
    }
    return found;
  }

  /** The answers of a device that is asked segment by segment. */
  private List<TopDocs> askOneByOne(IndexReader reader, List<QueryVector> vectors, Query filter)
      throws IOException {
    sendAhead(false);
    List<TopDocs> found = ask(reader, vectors, filter);
    sendAhead(true);
    return found;
  }

  private static void assertHits(List<TopDocs> expected, List<TopDocs> actual) {
    assertEquals(expected.size(), actual.size());
    for (int i = 0; i < expected.size(); i++) {
      ScoreDoc[] a = expected.get(i).scoreDocs;
      ScoreDoc[] b = actual.get(i).scoreDocs;
      assertEquals(a.length, b.length);
      for (int rank = 0; rank < a.length; rank++) {
        assertEquals("query " + i + ", rank " + rank, a[rank].doc, b[rank].doc);
        assertEquals(a[rank].score, b[rank].score, 0);
      }
    }
  }

  private static TestIndex floats(int segments) throws IOException {
    return new TestIndex(
        VectorEncoding.FLOAT32, VectorSimilarityFunction.EUCLIDEAN, 16, 400 * segments, segments);
  }

  private static void askFirst(TestIndex index, float[] array, int k) throws IOException {
    TopKnnCollector collector = new TopKnnCollector(k, Integer.MAX_VALUE);
    index
        .reader
        .leaves()
        .get(0)
        .reader()
        .searchNearestVectors(FIELD, array, collector, AcceptDocs.fromLiveDocs((Bits) null, 400));
    assertEquals(k, collector.topDocs().scoreDocs.length);
  }

  public void testOneLaunchForAllSegments() throws Exception {
    open();
    try (TestIndex index = TestIndex.any(2400, 6)) {
      List<QueryVector> vectors = vectors(index, 40);
      List<TopDocs> expected = askOneByOne(index.reader, vectors, null);
      ask(index.reader, vectors(index, 1), null);
      long before = launches();
      long requested = executor.statistics().counter("items", "requested");
      assertHits(expected, ask(index.reader, vectors, null));
      // Lucene may enter a segment once more, from the hits of the first time
      GpuStatistics statistics = executor.statistics();
      long items = statistics.counter("items", "requested") - requested;
      assertEquals(40 * 5, ahead("used"));
      assertEquals(40 * 5, ahead("sent"));
      assertTrue(items >= 40 * 6);
      assertEquals(statistics.toString(), 40 + items - 40 * 6, launches() - before);
      assertEquals(0, ahead("in_vain"));
    }
  }

  /** An application may write the next query into the array of the last. */
  public void testArraysThatAreUsedAgain() throws Exception {
    open();
    try (TestIndex index = floats(4)) {
      List<QueryVector> vectors = vectors(index, 30);
      List<TopDocs> expected = askOneByOne(index.reader, vectors, null);
      float[] array = new float[16];
      IndexSearcher searcher = new IndexSearcher(index.reader);
      for (int i = 0; i < vectors.size(); i++) {
        System.arraycopy(vectors.get(i).floats(), 0, array, 0, array.length);
        if (i % 5 == 0) {
          // a query that ends early leaves answers that are not the next one's
          askFirst(index, array, 1 + random().nextInt(100));
          System.arraycopy(vectors.get((i + 7) % 30).floats(), 0, array, 0, array.length);
          TopDocs other = searcher.search(query(QueryVector.of(array), null), K);
          assertHits(List.of(expected.get((i + 7) % 30)), List.of(other));
          System.arraycopy(vectors.get(i).floats(), 0, array, 0, array.length);
        }
        TopDocs found = searcher.search(query(QueryVector.of(array), null), K);
        assertHits(List.of(expected.get(i)), List.of(found));
      }
      assertTrue(ahead("used") > 0);
    }
  }

  /** Filters cannot be known in advance: nothing is sent, and nothing that was sent is taken. */
  public void testFilters() throws Exception {
    open();
    try (TestIndex index = floats(5)) {
      Query filter = IntField.newRangeQuery("id", 100, 1900);
      List<QueryVector> vectors = vectors(index, 10);
      List<TopDocs> all = askOneByOne(index.reader, vectors, null);
      List<TopDocs> filtered = askOneByOne(index.reader, vectors, filter);
      for (int round = 0; round < 3; round++) {
        assertHits(all, ask(index.reader, vectors, null));
        long sent = ahead("sent");
        assertHits(filtered, ask(index.reader, vectors, filter));
        // a segment that the filter accepts whole is searched as if there were none
        assertTrue(ahead("sent") - sent <= 10 * 4);
      }
    }
  }

  /** Documents are deleted, segments merged, and readers reopened, while queries go on. */
  public void testChangingIndex() throws Exception {
    open();
    try (TestIndex index = floats(6)) {
      KnnVectorsFormat format =
          new dev.vamana.codec.VamanaVectorsFormat(
              dev.vamana.codec.VamanaParameters.DEFAULT
                  .withGraph(16, 40, 1.2f)
                  .withThresholds(0, 0),
              dev.vamana.work.Workers.callingThread());
      IndexWriterConfig config =
          new IndexWriterConfig().setCodec(TestUtil.alwaysKnnVectorsFormat(format));
      try (IndexWriter writer = new IndexWriter(index.directory, config)) {
        for (int round = 0; round < 8; round++) {
          if (round == 4) {
            writer.forceMerge(2);
          } else {
            // from one segment after the other: one with few live documents is scanned, not walked
            int first = 400 * (round % 6);
            writer.deleteDocuments(IntField.newRangeQuery("id", first, first + 40));
          }
          try (DirectoryReader reader = DirectoryReader.open(writer)) {
            List<QueryVector> vectors = vectors(index, 12);
            List<TopDocs> expected = askOneByOne(reader, vectors, null);
            long used = ahead("used");
            assertHits(expected, ask(reader, vectors, null));
            // from the second query on; the first had nothing to learn from
            assertTrue(ahead("used") - used >= 11 * (reader.leaves().size() - 1));
          }
        }
      }
    }
  }

  /** Segments are no longer sent ahead once queries do not ask for them. */
  public void testWhatIsNotAskedForIsForgotten() throws Exception {
    open();
    try (TestIndex index = floats(4)) {
      List<QueryVector> vectors = vectors(index, 20);
      ask(index.reader, vectors, null);
      long sent = ahead("sent");
      // Lucene asks a segment for as many hits as may fall to it
      int k = 1;
      while (ahead("sent") == sent) {
        assertTrue(k <= 100);
        askFirst(index, index.vector().floats(), k++);
      }
      // queries are over when as many others have begun
      for (int i = 0; i < 1200; i++) {
        askFirst(index, index.vector().floats(), k - 1);
      }
      long after = ahead("sent");
      assertTrue(after - sent <= 3 * 520);
      assertTrue(ahead("in_vain") >= 3 * 4);
      ask(index.reader, vectors, null);
      assertTrue("learned again", ahead("sent") > after);
    }
  }

  /**
   * A segment that was evicted comes back for its own searches only; one that was released does
   * not.
   */
  public void testSegmentsThatLeftTheDevice() throws Exception {
    open();
    try (TestIndex index = floats(4)) {
      ask(index.reader, vectors(index, 20), null);
      long sent = ahead("sent");
      int k = 1;
      for (; ahead("sent") == sent; k++) {
        assertTrue(k <= 100);
        askFirst(index, index.vector().floats(), k);
      }
      SegmentView first = index.views().get(0);
      SegmentView left = index.views().get(2);
      boolean released = random().nextBoolean();
      if (released) {
        executor.release(left);
      } else {
        executor.evict(left);
      }
      long all = ahead("sent") - sent;
      askFirst(index, index.vector().floats(), k - 1);
      assertEquals("the others", all - 1, ahead("sent") - sent - all);
      assertEquals(DevicePresence.State.RESIDENT, executor.presence(first).state());
      assertEquals(DevicePresence.State.REFUSED, executor.presence(left).state());
      List<QueryVector> vectors = vectors(index, 1);
      ask(index.reader, vectors, null);
      // another device has what was released
      assertEquals(
          released ? DevicePresence.State.REFUSED : DevicePresence.State.RESIDENT,
          executor.presence(left).state());
    }
  }

  public void testOff() throws Exception {
    open();
    sendAhead(false);
    try (TestIndex index = floats(3)) {
      ask(index.reader, vectors(index, 10), null);
      assertEquals(0, ahead("sent"));
      // one thread asks for a segment after the other: nothing can share a launch
      GpuStatistics statistics = executor.statistics();
      assertTrue(statistics.toString(), statistics.counter("items", "requested") >= 30);
      assertEquals(
          statistics.toString(),
          statistics.counter("items", "requested"),
          statistics.counter("items_by_placement", "exact"));
      assertEquals(
          statistics.counter("batches", "items"), statistics.counter("batches", "launches"));
    }
  }
}
