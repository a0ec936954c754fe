package dev.vamana.search;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.util.FixedBitSet;
import org.apache.lucene.util.NamedThreadFactory;

/** Tests the registry, executors installed in it, and the CPU executor. */
public class ExecutorTests extends SearchTestCase {

  private static final int SIZE = 2_000;
  private static final int K = 12;

  private static TestVectors data() {
    return TestVectors.clustered(random(), randomEncoding(), randomSimilarity(), SIZE, 16);
  }

  public void testUsersShareOneExecutor() throws IOException {
    assertNull(ExecutorRegistry.current());
    RecordingExecutor executor = new RecordingExecutor();
    ExecutorRegistry.Installation first = ExecutorRegistry.install(() -> executor);
    ExecutorRegistry.Installation second =
        ExecutorRegistry.install(() -> unwanted("one is installed"));
    assertSame(executor, first.executor());
    assertSame(executor, second.executor());
    assertSame(executor, ExecutorRegistry.current());
    first.close();
    first.close();
    assertSame("closing twice counts once", executor, ExecutorRegistry.current());
    assertEquals(0, executor.closed);
    second.close();
    assertNull(ExecutorRegistry.current());
    assertEquals(1, executor.closed);
    second.close();
    assertEquals(1, executor.closed);
    RecordingExecutor next = new RecordingExecutor();
    try (ExecutorRegistry.Installation third = ExecutorRegistry.install(() -> next)) {
      assertSame(next, third.executor());
    }
    assertEquals(1, next.closed);
  }

  /** An executor reads files until its close has returned, and another would use its device. */
  public void testSegmentsThatCloseWhileTheExecutorCloses() throws Exception {
    TestVectors vectors = data();
    List<SegmentView> told = Collections.synchronizedList(new ArrayList<>());
    CountDownLatch closing = new CountDownLatch(1);
    CountDownLatch mayClose = new CountDownLatch(1);
    RecordingExecutor executor =
        new RecordingExecutor() {
          @Override
          public void closing(SegmentView segment) {
            told.add(segment);
          }

          @Override
          public synchronized void close() {
            closing.countDown();
            try {
              mayClose.await();
            } catch (InterruptedException e) {
              throw new AssertionError(e);
            }
            super.close();
          }
        };
    ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> executor);
    ExecutorService threads = Executors.newFixedThreadPool(2, new NamedThreadFactory("closing"));
    try (Directory directory = newDirectory();
        IndexWriter writer = new IndexWriter(directory, config(graphs()))) {
      writer.addDocument(document(vectors, 0, 0));
      DirectoryReader reader = DirectoryReader.open(writer);
      writer.rollback();
      Future<Void> released =
          threads.submit(
              () -> {
                installation.close();
                return null;
              });
      closing.await();
      assertNull("not searched any more", ExecutorRegistry.current());
      assertEquals(List.of(), told);
      reader.close();
      assertEquals("told before the files were closed", 1, told.size());
      RecordingExecutor second = new RecordingExecutor();
      AtomicInteger closedBefore = new AtomicInteger(-1);
      Future<ExecutorRegistry.Installation> next =
          threads.submit(
              () ->
                  ExecutorRegistry.install(
                      () -> {
                        closedBefore.set(executor.closed);
                        return second;
                      }));
      mayClose.countDown();
      released.get();
      next.get().close();
      assertEquals("one executor at a time", 1, closedBefore.get());
    } finally {
      mayClose.countDown();
      threads.shutdown();
      assertTrue(threads.awaitTermination(60, TimeUnit.SECONDS));
    }
  }

  private static SearchExecutor unwanted(String message) {
    throw new AssertionError(message);
  }

  public void testFailingFactoryInstallsNothing() throws IOException {
    expectThrows(
        IllegalStateException.class,
        () ->
            ExecutorRegistry.install(
                () -> {
                  throw new IllegalStateException("no device");
                }));
    assertNull(ExecutorRegistry.current());
    RecordingExecutor executor = new RecordingExecutor();
    ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> executor);
    installation.close();
    assertEquals(1, executor.closed);
  }

  /** Segments that Lucene reopens by name after a restart find the executor, too. */
  public void testReopenedSegmentIsServed() throws IOException {
    TestVectors vectors = data();
    Path path = createTempDir();
    try (Directory directory = FSDirectory.open(path);
        IndexWriter writer = new IndexWriter(directory, config(graphs()))) {
      for (int id = 0; id < SIZE; id++) {
        writer.addDocument(document(vectors, id, id));
      }
    }
    List<ScoreDoc[]> before = new ArrayList<>();
    try (Directory directory = FSDirectory.open(path);
        DirectoryReader reader = DirectoryReader.open(directory)) {
      IndexSearcher searcher = new IndexSearcher(reader);
      for (int i = 0; i < 20; i++) {
        before.add(search(vectors, searcher, i, new VamanaSearchStrategy(WalkParameters.exact(K))));
      }
    }
    RecordingExecutor executor = new RecordingExecutor();
    ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> executor);
    try (Directory directory = FSDirectory.open(path);
        DirectoryReader reader = DirectoryReader.open(directory)) {
      IndexSearcher searcher = new IndexSearcher(reader);
      for (int i = 0; i < 20; i++) {
        ScoreDoc[] hits =
            search(vectors, searcher, i, new VamanaSearchStrategy(WalkParameters.exact(K)));
        assertSameHits(before.get(i), hits);
        assertEquals(i + 1, executor.items.size());
      }
      // queries that bring nothing of ours are served too
      search(vectors, searcher, 0, KnnSearchStrategy.Hnsw.DEFAULT);
      assertEquals(21, executor.items.size());
      assertEquals(
          "one view a segment",
          1,
          executor.items.stream().map(WorkItem::segment).distinct().count());
      installation.close();
      search(vectors, searcher, 0, KnnSearchStrategy.Hnsw.DEFAULT);
      assertEquals(21, executor.items.size());
    }
    assertEquals(1, executor.closed);
  }

  /** Executors hear of readers before they are searched and before their files close. */
  public void testExecutorHearsOfReaders() throws IOException {
    List<String> heard = new ArrayList<>();
    RecordingExecutor executor =
        new RecordingExecutor() {
          @Override
          public void opened(SegmentView segment) {
            assertEquals(SIZE / 2, segment.size());
            heard.add("opened");
          }

          @Override
          public void closing(SegmentView segment) {
            try {
              // its files can still be read
              assertEquals(SIZE / 2, segment.vectors().size());
              assertTrue(segment.adjacency().neighbors(0, new int[64]) > 0);
            } catch (IOException e) {
              throw new AssertionError(e);
            }
            heard.add("closing");
          }
        };
    TestVectors vectors = data();
    try (TestIndex index = new TestIndex(vectors, graphs(), 2);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> executor)) {
      assertSame(executor, installation.executor());
      assertEquals("opened before the executor was installed", List.of(), heard);
      try (DirectoryReader reader = DirectoryReader.open(index.directory)) {
        assertEquals(List.of("opened", "opened"), heard);
        for (LeafReaderContext leaf : reader.leaves()) {
          KnnVectorsReader vectorsReader = ((CodecReader) leaf.reader()).getVectorReader();
          KnnVectorsReader merging = vectorsReader.getMergeInstance();
          merging.finishMerge();
        }
        assertEquals("instances for merges do not count", 2, heard.size());
      }
      assertEquals(List.of("opened", "opened", "closing", "closing"), heard);
    }
  }

  private static ScoreDoc[] search(
      TestVectors vectors, IndexSearcher searcher, int id, KnnSearchStrategy strategy)
      throws IOException {
    QueryVector query = vectors.get(id * 7);
    TopDocs hits = searcher.search(new CountedQuery(FIELD, query, K, null, strategy).query(), K);
    int[] ids = ids(searcher, hits);
    assertEquals(K, ids.length);
    assertWellFormed(vectors, query, hits, ids, ALL);
    return hits.scoreDocs;
  }

  public void testExecutorThatFindsFew() throws IOException {
    SearchExecutor few =
        new RecordingExecutor() {
          @Override
          public List<WorkResult> search(List<WorkItem> batch) throws IOException {
            return super.search(batch).stream()
                .map(
                    result ->
                        new WorkResult(
                            Arrays.copyOf(result.ordinals(), 3),
                            Arrays.copyOf(result.scores(), 3),
                            result.visited(),
                            true))
                .toList();
          }
        };
    try (TestIndex index = new TestIndex(data(), graphs(), 1);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> few)) {
      assertSame(few, installation.executor());
      QueryVector query = index.vectors.get(5);
      TopDocs hits =
          index.searcher.search(new CountedQuery(FIELD, query, K, null, null).query(), K);
      assertEquals(3, hits.scoreDocs.length);
      assertWellFormed(index.vectors, query, hits, ids(index.searcher, hits), ALL);
      // Lucene itself scans when a filtered search finds too few
      hits =
          index.searcher.search(
              new CountedQuery(FIELD, query, K, index.filter(SIZE / 2), null).query(), K);
      assertEquals(K, hits.scoreDocs.length);
    }
  }

  /** The calling thread scans what an executor leaves to it, and tells the executor when it has. */
  public void testScansThatAnExecutorLeaves() throws IOException {
    AtomicInteger left = new AtomicInteger();
    AtomicInteger ended = new AtomicInteger();
    RecordingExecutor leaving =
        new RecordingExecutor() {
          @Override
          public LeftSearch leaves(SegmentView segment, int k, int accepted, boolean scan) {
            assertEquals(segment.size(), accepted);
            left.incrementAndGet();
            return ended::incrementAndGet;
          }
        };
    TestVectors vectors = data();
    KnnVectorsFormat withoutGraphs =
        new VamanaVectorsFormat(
            VamanaParameters.DEFAULT.withThresholds(2 * SIZE, 0), Workers.callingThread());
    try (TestIndex index = new TestIndex(vectors, withoutGraphs, 1 + random().nextInt(4))) {
      QueryVector query = vectors.get(5);
      TopDocs expected =
          index.searcher.search(new CountedQuery(FIELD, query, K, null, null).query(), K);
      try (ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> leaving)) {
        assertSame(leaving, installation.executor());
        TopDocs hits =
            index.searcher.search(new CountedQuery(FIELD, query, K, null, null).query(), K);
        assertSameHits(expected.scoreDocs, hits.scoreDocs);
        assertEquals(index.searcher.getLeafContexts().size(), left.get());
        assertEquals(left.get(), ended.get());
        assertEquals(0, leaving.items.size());
      }
    }
  }

  public void testExecutorThatFails() throws IOException {
    SearchExecutor failing =
        new RecordingExecutor() {
          @Override
          public List<WorkResult> search(List<WorkItem> batch) throws IOException {
            throw new IOException("device lost");
          }
        };
    try (TestIndex index = new TestIndex(data(), graphs(), 1);
        ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> failing)) {
      assertSame(failing, installation.executor());
      IOException failure =
          expectThrows(
              IOException.class,
              () ->
                  index.searcher.search(
                      new CountedQuery(FIELD, index.vectors.get(5), K, null, null).query(), K));
      assertEquals("device lost", failure.getMessage());
    }
  }

  public void testThreadsChangeNothing() throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(3, new NamedThreadFactory("search"));
    try (TestIndex index = new TestIndex(data(), graphsAndCodes(), 1)) {
      SegmentView view = index.view();
      List<WorkItem> batch = new ArrayList<>();
      for (int i = 0; i < 300; i++) {
        WalkParameters walk =
            new WalkParameters(
                1 + random().nextInt(60),
                WalkParameters.Distances.values()[random().nextInt(2)],
                1 + random().nextInt(4),
                random().nextInt(40) - 1);
        FixedBitSet accepted = random().nextInt(3) == 0 ? randomBits() : null;
        batch.add(
            new WorkItem(
                view,
                index.vectors.get(random().nextInt(SIZE)),
                1 + random().nextInt(30),
                walk,
                accepted,
                accepted == null ? SIZE : accepted.cardinality(),
                random().nextInt(4) == 0 ? random().nextInt(200) : Long.MAX_VALUE,
                () -> false,
                new int[0]));
      }
      List<WorkResult> single = new CpuExecutor(Workers.callingThread()).search(batch);
      List<WorkResult> several = new CpuExecutor(new Workers(pool, 4)).search(batch);
      assertEquals(batch.size(), several.size());
      for (int i = 0; i < batch.size(); i++) {
        assertSameHits(hits(single.get(i)), hits(several.get(i)));
        assertEquals(single.get(i).visited(), several.get(i).visited());
        assertEquals(single.get(i).complete(), several.get(i).complete());
        assertTrue(single.get(i).visited() <= batch.get(i).visitLimit());
        for (int ordinal : single.get(i).ordinals()) {
          assertTrue(
              batch.get(i).acceptedOrdinals() == null
                  || batch.get(i).acceptedOrdinals().get(ordinal));
        }
      }
      assertEquals(List.of(), new CpuExecutor(new Workers(pool, 4)).search(List.of()));
    } finally {
      pool.shutdown();
      assertTrue(pool.awaitTermination(2, TimeUnit.MINUTES));
    }
  }

  private static ScoreDoc[] hits(WorkResult result) {
    ScoreDoc[] hits = new ScoreDoc[result.ordinals().length];
    for (int i = 0; i < hits.length; i++) {
      hits[i] = new ScoreDoc(result.ordinals()[i], result.scores()[i]);
    }
    return hits;
  }

  private static FixedBitSet randomBits() {
    FixedBitSet bits = new FixedBitSet(SIZE);
    double share = random().nextDouble();
    for (int i = 0; i < SIZE; i++) {
      if (random().nextDouble() < share) {
        bits.set(i);
      }
    }
    return bits;
  }
}
