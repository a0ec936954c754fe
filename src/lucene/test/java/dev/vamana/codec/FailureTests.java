package dev.vamana.codec;

import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.index.VectorCodec;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.apache.lucene.index.ConcurrentMergeScheduler;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.store.MockDirectoryWrapper;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.InfoStream;
import org.apache.lucene.util.NamedThreadFactory;

/**
 * Failing reads and writes, full disks and aborted merges leave a usable index, no files and no
 * open inputs; the mock directory complains about either when it is closed.
 */
// these tests copy and damage all files of an index, so there must be no others
@LuceneTestCase.SuppressFileSystems("ExtrasFS")
public class FailureTests extends LuceneTestCase {

  private static final int DIMENSION = 8;

  private static IndexWriterConfig config(VamanaParameters parameters) {
    return Segments.config(parameters)
        .setUseCompoundFile(random().nextBoolean())
        .setMergePolicy(new LogDocMergePolicy());
  }

  private static void addSome(IndexWriter writer, float[][] vectors) throws IOException {
    for (float[] vector : vectors) {
      writer.addDocument(Segments.document(random().nextInt(1000), vector));
    }
  }

  /** The mock directory complains about files that stay open. */
  public void testExecutorThatRefusesSegments() throws IOException {
    float[][] vectors = Segments.clustered(random(), 40, DIMENSION);
    try (MockDirectoryWrapper directory =
        new MockDirectoryWrapper(random(), new ByteBuffersDirectory())) {
      try (IndexWriter writer = new IndexWriter(directory, config(Segments.SMALL))) {
        addSome(writer, vectors);
      }
      RefusingExecutor executor = new RefusingExecutor();
      try (ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> executor)) {
        assertSame(executor, installation.executor());
        for (int refused = 1; refused <= 2; refused++) {
          executor.known.clear();
          executor.calls = 0;
          executor.refusedCall = refused;
          expectThrows(IllegalStateException.class, () -> DirectoryReader.open(directory));
          assertEquals("told of what it knew", Set.of(), executor.known);
        }
        executor.refusedCall = 0;
        DirectoryReader reader = DirectoryReader.open(directory);
        assertEquals(2, executor.known.size());
        executor.refusesClosing = true;
        expectThrows(IllegalStateException.class, reader::close);
        assertEquals("told of both fields", Set.of(), executor.known);
      }
    }
  }

  /** Throws when it is told of a segment; it may know the segment all the same. */
  private static final class RefusingExecutor implements SearchExecutor {
    private final Set<SegmentView> known = new HashSet<>();
    private int calls;
    private int refusedCall;
    private boolean refusesClosing;

    @Override
    public String name() {
      return "refusing";
    }

    @Override
    public List<WorkResult> search(List<WorkItem> batch) {
      throw new AssertionError("nothing is searched");
    }

    @Override
    public void opened(SegmentView segment) {
      known.add(segment);
      if (++calls == refusedCall) {
        throw new IllegalStateException("refused");
      }
    }

    @Override
    public void closing(SegmentView segment) {
      known.remove(segment);
      if (refusesClosing) {
        throw new IllegalStateException("refused");
      }
    }

    @Override
    public void close() {}
  }

  public void testRandomFailuresInFlushAndMerge() throws IOException {
    int failures = 0;
    int rounds = atLeast(TEST_NIGHTLY ? 8 : 4);
    // goes on until something fails: few rounds of low rates may pass
    for (int round = 0; round < rounds || failures == 0; round++) {
      assertTrue("no failure came about", round < 200);
      float[][] vectors = Segments.clustered(random(), 40, DIMENSION);
      try (MockDirectoryWrapper directory =
          new MockDirectoryWrapper(random(), new ByteBuffersDirectory())) {
        try (IndexWriter writer = new IndexWriter(directory, config(Segments.SMALL))) {
          addSome(writer, vectors);
        }
        IndexWriter writer = new IndexWriter(directory, config(Segments.SMALL));
        try {
          double rate = 0.002 + random().nextDouble() * 0.02;
          directory.setRandomIOExceptionRate(rate);
          directory.setRandomIOExceptionRateOnOpen(rate);
          for (int segment = 0; segment < 4; segment++) {
            addSome(writer, vectors);
            writer.flush();
          }
          writer.forceMerge(1);
          writer.commit();
        } catch (IOException | IllegalStateException e) {
          // a writer that met a tragic event throws AlreadyClosedException
          failures++;
        } finally {
          directory.setRandomIOExceptionRate(0);
          directory.setRandomIOExceptionRateOnOpen(0);
          writer.rollback();
        }
        checkUsable(directory, vectors);
      }
    }
  }

  public void testDiskFull() throws IOException {
    float[][] vectors = Segments.clustered(random(), 60, DIMENSION);
    boolean finished = false;
    int failures = 0;
    for (long room = 20_000; finished == false; room += TEST_NIGHTLY ? 25_000 : 70_000) {
      try (MockDirectoryWrapper directory =
          new MockDirectoryWrapper(random(), new ByteBuffersDirectory())) {
        try (IndexWriter writer = new IndexWriter(directory, config(Segments.SMALL))) {
          addSome(writer, vectors);
        }
        IndexWriter writer = new IndexWriter(directory, config(Segments.SMALL));
        directory.setTrackDiskUsage(true);
        directory.setMaxSizeInBytes(directory.sizeInBytes() + room);
        try {
          for (int segment = 0; segment < 3; segment++) {
            addSome(writer, vectors);
            writer.flush();
          }
          writer.forceMerge(1);
          writer.commit();
          finished = true;
        } catch (IOException | IllegalStateException e) {
          failures++;
        } finally {
          directory.setMaxSizeInBytes(0);
          writer.rollback();
        }
        checkUsable(directory, vectors);
      }
    }
    assertTrue("disk was never full", failures > 0);
  }

  private static void checkUsable(Directory directory, float[][] vectors) throws IOException {
    try (IndexWriter writer = new IndexWriter(directory, config(Segments.SMALL))) {
      addSome(writer, vectors);
      writer.forceMerge(1);
    }
    TestUtil.checkIndex(directory);
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      assertEquals(
          5,
          reader
              .leaves()
              .get(0)
              .reader()
              .searchNearestVectors(
                  Segments.FLOATS,
                  vectors[0],
                  5,
                  AcceptDocs.fromLiveDocs(null, reader.maxDoc()),
                  Integer.MAX_VALUE)
              .scoreDocs
              .length);
    }
  }

  /** Every open and every read of the reader's constructor fails once. */
  public void testReaderThatFailsToOpenClosesEverything() throws IOException {
    try (MockDirectoryWrapper directory =
        new MockDirectoryWrapper(random(), new ByteBuffersDirectory())) {
      try (IndexWriter writer =
          new IndexWriter(directory, config(Segments.SMALL).setUseCompoundFile(false))) {
        addSome(writer, Segments.clustered(random(), 50, DIMENSION));
      }
      FailingCall failing = new FailingCall(VamanaVectorsReader.class);
      directory.failOn(failing);
      DirectoryReader.open(directory).close();
      int calls = failing.calls;
      assertTrue("calls " + calls, calls >= 5);
      for (int at = 0; at < calls; at++) {
        failing.failAt(at);
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
          // the mock directory now and then asks less often
          assertTrue("call " + at + " of " + failing.calls, failing.calls <= at);
          assertEquals(50, reader.maxDoc());
        } catch (MockDirectoryWrapper.FakeIOException expected) {
          assertTrue(failing.calls > at);
        }
      }
      failing.stop();
    }
  }

  /** Calls of the writer to the directory fail, in flush and merge. */
  public void testWriterThatFailsClosesEverything() throws IOException {
    float[][] vectors = Segments.clustered(random(), 12, DIMENSION);
    FailingCall counting = new FailingCall(VamanaVectorsWriter.class);
    assertTrue(writeFailing(counting, vectors));
    for (int i = 0; i < (TEST_NIGHTLY ? 50 : 8); i++) {
      FailingCall failing = new FailingCall(VamanaVectorsWriter.class);
      failing.failAt(random().nextInt(counting.calls));
      boolean finished = writeFailing(failing, vectors);
      assertEquals("call " + failing.failing, finished, failing.calls <= failing.failing);
    }
  }

  private static boolean writeFailing(FailingCall failing, float[][] vectors) throws IOException {
    try (MockDirectoryWrapper directory =
        new MockDirectoryWrapper(random(), new ByteBuffersDirectory())) {
      directory.failOn(failing);
      IndexWriter writer =
          new IndexWriter(
              directory, Segments.config(Segments.SMALL).setMergePolicy(new LogDocMergePolicy()));
      try {
        for (int segment = 0; segment < 2; segment++) {
          for (int i = 0; i < vectors.length; i++) {
            writer.addDocument(Segments.document(i, vectors[i]));
          }
          writer.flush();
        }
        writer.forceMerge(1);
        writer.commit();
        return true;
      } catch (IOException | IllegalStateException e) {
        return false;
      } finally {
        failing.stop();
        writer.rollback();
      }
    }
  }

  /** Rolling back while a merge builds its graph, or its codes, ends that build. */
  public void testAbortedMergeEndsAndCleansUp() throws Exception {
    for (String phase : List.of("build graph of ", "quantize ")) {
      boolean graph = phase.startsWith("build");
      VamanaParameters parameters =
          graph
              ? VamanaParameters.DEFAULT.withThresholds(20_000, Integer.MAX_VALUE)
              : VamanaParameters.DEFAULT
                  .withSubspaces(64)
                  .withThresholds(Integer.MAX_VALUE, 20_000);
      Begun begun = new Begun(phase);
      try (MockDirectoryWrapper directory =
          new MockDirectoryWrapper(random(), new ByteBuffersDirectory())) {
        float[][] vectors = Segments.clustered(random(), 10_500, 64);
        BuildStatistics statistics = new BuildStatistics();
        VamanaVectorsFormat format =
            new VamanaVectorsFormat(
                parameters, Workers.callingThread(), CodebookProvider.NONE, statistics);
        IndexWriterConfig config =
            config(parameters)
                .setCodec(new VectorCodec(format))
                .setMergeScheduler(new ConcurrentMergeScheduler())
                .setInfoStream(begun);
        IndexWriter writer = new IndexWriter(directory, config);
        for (int segment = 0; segment < 2; segment++) {
          for (int i = 0; i < vectors.length; i++) {
            writer.addDocument(
                Segments.document(i, vectors[i], VectorSimilarityFunction.EUCLIDEAN));
          }
          writer.commit();
        }
        ExecutorService merging =
            Executors.newSingleThreadExecutor(new NamedThreadFactory("force-merge"));
        var merge =
            merging.submit(
                () -> {
                  writer.forceMerge(1);
                  return null;
                });
        assertTrue(begun.latch.await(5, TimeUnit.MINUTES));
        writer.rollback();
        Exception failure = expectThrows(Exception.class, merge::get);
        assertTrue(
            failure.toString(),
            failure.getCause() instanceof IOException
                || failure.getCause() instanceof AlreadyClosedException);
        assertFalse("the build ran to its end", begun.ended);
        merging.shutdown();
        assertTrue(merging.awaitTermination(5, TimeUnit.MINUTES));
        assertEquals(1, statistics.snapshot().aborted());
        assertEquals(0, statistics.snapshot().failed());
        assertEquals(0, statistics.snapshot().graphs() + statistics.snapshot().quantizations());
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
          assertEquals(2, reader.leaves().size());
          assertEquals(2 * vectors.length, reader.maxDoc());
        }
      }
    }
  }

  /** One of the calls that methods of a class, or what they call, make to the directory. */
  private static final class FailingCall extends MockDirectoryWrapper.Failure {
    private static final int NEVER = -1;

    private final Class<?> caller;
    private int failing = NEVER;
    private int calls;
    private boolean stopped;

    FailingCall(Class<?> caller) {
      this.caller = caller;
    }

    void failAt(int call) {
      failing = call;
      calls = 0;
    }

    void stop() {
      stopped = true;
    }

    @Override
    public void eval(MockDirectoryWrapper directory) throws IOException {
      if (stopped == false && callStackContains(caller) && calls++ == failing) {
        throw new MockDirectoryWrapper.FakeIOException();
      }
    }
  }

  /** Sees a phase begin and end. */
  private static final class Begun extends InfoStream {
    private final CountDownLatch latch = new CountDownLatch(1);
    private final String phase;
    private volatile boolean ended;

    Begun(String phase) {
      this.phase = phase;
    }

    @Override
    public void message(String component, String message) {
      if (message.startsWith(phase)) {
        latch.countDown();
      } else {
        ended = true;
      }
    }

    @Override
    public boolean isEnabled(String component) {
      return component.equals(VamanaVectorsFormat.INFO_COMPONENT);
    }

    @Override
    public void close() {}
  }
}
