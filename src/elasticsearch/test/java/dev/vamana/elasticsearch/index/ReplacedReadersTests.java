package dev.vamana.elasticsearch.index;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.tools.index.VectorCodec;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.search.ReferenceManager;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.common.lucene.index.ElasticsearchDirectoryReader;
import org.elasticsearch.common.util.concurrent.EsRejectedExecutionException;
import org.elasticsearch.core.AbstractRefCounted;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.shard.ShardId;
import org.junit.BeforeClass;

/** Searches, refreshes and the closing of replaced readers, one step after the other. */
public class ReplacedReadersTests extends LuceneTestCase {

  private static final ShardId SHARD = new ShardId("index", "uuid", 0);

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  /** The readers of a shard, as the server's engine refreshes them. */
  private static final class Readers extends ReferenceManager<ElasticsearchDirectoryReader> {

    private final Engine.Warmer warmer;

    Readers(IndexWriter writer, Engine.Warmer warmer) throws IOException {
      this.warmer = warmer;
      current = ElasticsearchDirectoryReader.wrap(DirectoryReader.open(writer), SHARD);
      warmer.warm(current);
    }

    @Override
    protected void decRef(ElasticsearchDirectoryReader reader) throws IOException {
      reader.decRef();
    }

    @Override
    protected ElasticsearchDirectoryReader refreshIfNeeded(ElasticsearchDirectoryReader last)
        throws IOException {
      ElasticsearchDirectoryReader next =
          (ElasticsearchDirectoryReader) DirectoryReader.openIfChanged(last);
      if (next != null) {
        warmer.warm(next);
      }
      return next;
    }

    @Override
    protected boolean tryIncRef(ElasticsearchDirectoryReader reader) {
      return reader.tryIncRef();
    }

    @Override
    protected int getRefCount(ElasticsearchDirectoryReader reader) {
      return reader.getRefCount();
    }
  }

  /** Counts the segments that are given up. Until the device is idle, whoever closes one waits. */
  private static final class BusyDevice implements SearchExecutor {

    private final AtomicBoolean idle = new AtomicBoolean();
    private final AtomicInteger closed = new AtomicInteger();

    @Override
    public String name() {
      return "busy";
    }

    @Override
    public List<WorkResult> search(List<WorkItem> batch) {
      throw new AssertionError("nothing is searched");
    }

    @Override
    public void closing(SegmentView segment) {
      if (idle.get() == false) {
        throw new AssertionError("a search or a refresh would wait for the device");
      }
      closed.incrementAndGet();
    }

    @Override
    public void close() {}
  }

  private static Document document() {
    Document document = new Document();
    document.add(new KnnFloatVectorField("v", new float[] {1, 2, 3}));
    return document;
  }

  private static IndexWriterConfig config() {
    return new IndexWriterConfig()
        .setMergePolicy(NoMergePolicy.INSTANCE)
        .setCodec(
            new VectorCodec(
                new VamanaVectorsFormat(VamanaParameters.DEFAULT, Workers.callingThread())));
  }

  /**
   * Removes all segments and adds one, so that the reader before is the last to have the others.
   */
  private static void replace(IndexWriter writer) throws IOException {
    writer.deleteAll();
    writer.addDocument(document());
  }

  public void testSearchThatBeganBeforeARefreshClosesNothing() throws IOException {
    Deque<Runnable> tasks = new ArrayDeque<>();
    AtomicBoolean storeClosed = new AtomicBoolean();
    AbstractRefCounted store = AbstractRefCounted.of(() -> storeClosed.set(true));
    BusyDevice device = new BusyDevice();
    try (ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> device);
        Directory directory = newDirectory();
        IndexWriter writer = new IndexWriter(directory, config())) {
      assertSame(device, installation.executor());
      writer.addDocument(document());
      Readers readers = new Readers(writer, new ReplacedReaders(store, tasks::add).warmer(null));
      ElasticsearchDirectoryReader searched = readers.acquire();
      replace(writer);
      readers.maybeRefreshBlocking();
      store.decRef();
      tasks.remove().run();
      assertEquals("searched", 2, searched.getRefCount());
      readers.release(searched);
      assertEquals("held here", 1, searched.getRefCount());
      assertFalse("the store outlives its readers", storeClosed.get());
      assertEquals(0, device.closed.get());

      device.idle.set(true);
      tasks.remove().run();
      assertEquals("closed", 0, searched.getRefCount());
      assertEquals(1, device.closed.get());
      assertTrue("nothing is held", storeClosed.get());
      assertEquals("nothing is left to do", 0, tasks.size());
      readers.close();
    }
  }

  public void testRefreshClosesNothing() throws IOException {
    Deque<Runnable> tasks = new ArrayDeque<>();
    BusyDevice device = new BusyDevice();
    AbstractRefCounted store = AbstractRefCounted.of(() -> {});
    try (ExecutorRegistry.Installation installation = ExecutorRegistry.install(() -> device);
        Directory directory = newDirectory();
        IndexWriter writer = new IndexWriter(directory, config())) {
      assertSame(device, installation.executor());
      writer.addDocument(document());
      Readers readers = new Readers(writer, new ReplacedReaders(store, tasks::add).warmer(null));
      for (int i = 0; i < 3; i++) {
        replace(writer);
        readers.maybeRefreshBlocking();
      }
      assertEquals("one task for all", 1, tasks.size());
      assertEquals("one for each reader and one of the test", 4, store.refCount());
      device.idle.set(true);
      tasks.remove().run();
      assertEquals(3, device.closed.get());
      assertEquals(1, store.refCount());
      assertEquals(0, tasks.size());
      readers.close();
    }
  }

  public void testNothingIsHeldWhereNoTaskRunsAnyMore() throws IOException {
    AbstractRefCounted store = AbstractRefCounted.of(() -> {});
    Consumer<Runnable> stopped =
        task -> {
          throw new EsRejectedExecutionException("stopped", true);
        };
    try (Directory directory = newDirectory();
        IndexWriter writer = new IndexWriter(directory, config())) {
      writer.addDocument(document());
      Readers readers = new Readers(writer, new ReplacedReaders(store, stopped).warmer(null));
      ElasticsearchDirectoryReader searched = readers.acquire();
      replace(writer);
      readers.maybeRefreshBlocking();
      assertEquals("by the search alone", 1, searched.getRefCount());
      readers.release(searched);
      assertEquals(1, store.refCount());
      readers.close();
    }
  }
}
