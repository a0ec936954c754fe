package dev.vamana.search;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.NIOFSDirectory;
import org.apache.lucene.util.NamedThreadFactory;

/** Searches one reader with many threads while others write, merge, reopen and close. */
public class ConcurrentSearchTests extends SearchTestCase {

  private static final int SIZE = 1_500;
  private static final int THREADS = 4;
  private static final int K = 10;

  private static final KnnSearchStrategy[] STRATEGIES = {
    KnnSearchStrategy.Hnsw.DEFAULT,
    new VamanaSearchStrategy(WalkParameters.exact(30)),
    new VamanaSearchStrategy(WalkParameters.quantized(30, WalkParameters.RERANK_DEFAULT)),
  };

  private static TestVectors data() {
    return TestVectors.clustered(random(), randomEncoding(), randomSimilarity(), SIZE, 16);
  }

  private static TopDocs search(TestVectors vectors, IndexSearcher searcher, int query)
      throws IOException {
    KnnSearchStrategy strategy = STRATEGIES[query % STRATEGIES.length];
    return searcher.search(
        new CountedQuery(FIELD, vectors.get(query), K, null, strategy).query(), K);
  }

  private static void assertSame(TopDocs expected, TopDocs actual) {
    assertSameHits(expected.scoreDocs, actual.scoreDocs);
  }

  /** Runs the task on every thread, and rethrows what the first one threw. */
  private static void onThreads(List<Callable<Void>> tasks) throws Exception {
    ExecutorService pool =
        Executors.newFixedThreadPool(tasks.size(), new NamedThreadFactory("search"));
    try {
      List<Future<Void>> futures = new ArrayList<>();
      for (Callable<Void> task : tasks) {
        futures.add(pool.submit(task));
      }
      for (Future<Void> future : futures) {
        future.get();
      }
    } finally {
      pool.shutdown();
      assertTrue(pool.awaitTermination(2, TimeUnit.MINUTES));
    }
  }

  public void testSearchesWhileTheIndexChanges() throws Exception {
    TestVectors vectors = data();
    try (Directory directory = directory();
        IndexWriter writer =
            new IndexWriter(
                directory, config(graphsAndCodes()).setMergePolicy(new LogDocMergePolicy()))) {
      for (int id = 0; id < SIZE / 2; id++) {
        writer.addDocument(document(vectors, id, id));
        if (id == SIZE / 4) {
          writer.flush();
        }
      }
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        IndexSearcher searcher = new IndexSearcher(reader);
        List<TopDocs> expected = new ArrayList<>();
        for (int query = 0; query < 60; query++) {
          expected.add(search(vectors, searcher, query));
        }
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
          int first = thread * 7;
          tasks.add(
              () -> {
                for (int i = 0; i < 240; i++) {
                  int query = (first + i) % 60;
                  assertSame(expected.get(query), search(vectors, searcher, query));
                }
                return null;
              });
        }
        tasks.add(() -> change(vectors, writer));
        onThreads(tasks);
      }
    }
  }

  /** Adds, deletes, merges and reopens. */
  private static Void change(TestVectors vectors, IndexWriter writer) throws IOException {
    for (int id = SIZE / 2; id < SIZE; id++) {
      writer.addDocument(document(vectors, id, id));
      if (id % 150 == 0) {
        writer.deleteDocuments(
            org.apache.lucene.document.IntField.newRangeQuery(ID, id - 150, id - 100));
        try (DirectoryReader reader = DirectoryReader.open(writer)) {
          assertEquals(K, search(vectors, new IndexSearcher(reader), id).scoreDocs.length);
        }
      }
    }
    writer.forceMerge(1);
    try (DirectoryReader reader = DirectoryReader.open(writer)) {
      assertEquals(K, search(vectors, new IndexSearcher(reader), 0).scoreDocs.length);
    }
    return null;
  }

  public void testOneSearcherWithAnExecutorOfThreads() throws Exception {
    ExecutorService pool =
        Executors.newFixedThreadPool(THREADS, new NamedThreadFactory("segments"));
    ExecutorRegistry.Installation installation =
        random().nextBoolean()
            ? ExecutorRegistry.install(() -> new CpuExecutor(new Workers(pool, 2)))
            : null;
    try (TestIndex index = new TestIndex(data(), graphsAndCodes(), 4)) {
      IndexSearcher searcher = new IndexSearcher(index.reader, pool);
      List<Callable<Void>> tasks = new ArrayList<>();
      for (int thread = 0; thread < THREADS; thread++) {
        tasks.add(
            () -> {
              for (int query = 0; query < 60; query++) {
                assertSame(
                    search(index.vectors, index.searcher, query),
                    search(index.vectors, searcher, query));
              }
              return null;
            });
      }
      onThreads(tasks);
    } finally {
      if (installation != null) {
        installation.close();
      }
      pool.shutdown();
      assertTrue(pool.awaitTermination(2, TimeUnit.MINUTES));
    }
  }

  /**
   * Searches that lose their files under them end with an exception, whatever they do just then.
   */
  public void testReaderClosedDuringSearches() throws Exception {
    TestVectors vectors = data();
    Path path = createTempDir();
    boolean mapped = random().nextInt(4) > 0;
    try (Directory directory = mapped ? new MMapDirectory(path) : new NIOFSDirectory(path)) {
      try (IndexWriter writer = new IndexWriter(directory, config(graphsAndCodes()))) {
        for (int id = 0; id < SIZE; id++) {
          writer.addDocument(document(vectors, id, id));
        }
      }
      for (int round = 0; round < 15; round++) {
        DirectoryReader reader = DirectoryReader.open(directory);
        IndexSearcher searcher = new IndexSearcher(reader);
        CountDownLatch started = new CountDownLatch(THREADS);
        AtomicBoolean closed = new AtomicBoolean();
        AtomicInteger searches = new AtomicInteger();
        List<Callable<Void>> tasks = new ArrayList<>();
        for (int thread = 0; thread < THREADS; thread++) {
          int first = thread;
          tasks.add(
              () -> {
                started.countDown();
                for (int i = first; ; i++) {
                  try {
                    search(vectors, searcher, i % SIZE);
                    searches.incrementAndGet();
                  } catch (AlreadyClosedException e) {
                    assertTrue("closed too early", closed.get());
                    return null;
                  } catch (IOException e) {
                    // what Lucene's NIO directory throws
                    assertTrue(e.toString(), mapped == false && closed.get());
                    assertTrue(e.toString(), e.getCause() instanceof ClosedChannelException);
                    return null;
                  } catch (NullPointerException e) {
                    // Lucene's mapped directory, closed between its check and its use of a slice
                    String thrower = e.getStackTrace()[0].getClassName();
                    assertTrue(e.toString(), thrower.startsWith("org.apache.lucene.store."));
                    assertTrue(e.toString(), mapped && closed.get());
                    return null;
                  }
                }
              });
        }
        int after = random().nextInt(200);
        tasks.add(
            () -> {
              started.await();
              while (searches.get() < after) {
                Thread.onSpinWait();
              }
              closed.set(true);
              reader.close();
              return null;
            });
        onThreads(tasks);
      }
    }
  }

  public void testMergesInParallelWithSearches() throws Exception {
    TestVectors vectors = data();
    ExecutorService pool = Executors.newFixedThreadPool(2, new NamedThreadFactory("build"));
    try (Directory directory = directory()) {
      VamanaVectorsFormat format =
          new VamanaVectorsFormat(
              VamanaParameters.DEFAULT.withGraph(16, 40, 1.2f).withThresholds(0, 0),
              new Workers(pool, 3));
      try (IndexWriter writer =
          new IndexWriter(directory, config(format).setMergePolicy(new LogDocMergePolicy()))) {
        for (int id = 0; id < SIZE; id++) {
          writer.addDocument(document(vectors, id, id));
          if (id % 300 == 299) {
            writer.flush();
          }
        }
        writer.forceMerge(1);
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        IndexSearcher searcher = new IndexSearcher(reader);
        double recall = 0;
        for (int query = 0; query < 30; query++) {
          int[] ids = ids(searcher, search(vectors, searcher, query));
          recall += vectors.recall(vectors.get(query), K, ALL, ids) / 30;
        }
        assertTrue("recall " + recall, recall >= 0.75);
      }
    } finally {
      pool.shutdown();
      assertTrue(pool.awaitTermination(2, TimeUnit.MINUTES));
    }
  }
}
