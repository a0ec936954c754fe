package dev.vamana.elasticsearch.search;

import com.carrotsearch.randomizedtesting.generators.RandomStrings;
import dev.vamana.elasticsearch.ServerClasses;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.index.mapper.IdFieldMapper;
import org.elasticsearch.index.mapper.Uid;
import org.junit.BeforeClass;

/**
 * The cache has the ids that the segments store. Its memory is bounded, and a closed segment gives
 * its part back.
 */
public class IdCacheTests extends LuceneTestCase {

  private static final long ROOM = 1 << 20;

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private final Deque<Runnable> tasks = new ArrayDeque<>();
  private final AtomicLong now = new AtomicLong(random().nextLong());

  private static String id(int kind) {
    return switch (kind) {
      case 0 -> Long.toString(random().nextLong() >>> (1 + random().nextInt(62)));
      // as the node makes them
      case 1 -> RandomStrings.randomAsciiAlphanumOfLength(random(), 20);
      case 2 -> RandomStrings.randomUnicodeOfCodepointLengthBetween(random(), 1, 40);
      default -> RandomStrings.randomAsciiAlphanumOfLengthBetween(random(), 100, 512);
    };
  }

  /** Adds documents as segments of one index; some are deleted. Returns the ids of each segment. */
  private static List<List<String>> write(Directory directory, int... sizes) throws IOException {
    List<List<String>> segments = new ArrayList<>();
    IndexWriterConfig config =
        new IndexWriterConfig()
            .setMergePolicy(NoMergePolicy.INSTANCE)
            .setMaxBufferedDocs(1_000_000)
            .setRAMBufferSizeMB(512);
    try (IndexWriter writer = new IndexWriter(directory, config)) {
      for (int size : sizes) {
        List<String> ids = new ArrayList<>();
        for (int doc = 0; doc < size; doc++) {
          // a document that was written again has the id of an older one, which is deleted
          String id =
              doc > 0 && random().nextInt(20) == 0
                  ? ids.get(random().nextInt(doc))
                  : id(random().nextInt(4));
          Document document = new Document();
          document.add(new StoredField("_source", "the document of " + id));
          document.add(new StringField(IdFieldMapper.NAME, Uid.encodeId(id), Field.Store.YES));
          writer.addDocument(document);
          ids.add(id);
        }
        if (size > 1) {
          writer.deleteDocuments(
              new Term(IdFieldMapper.NAME, Uid.encodeId(ids.get(random().nextInt(size - 1)))));
        }
        Document kept = new Document();
        kept.add(new StringField(IdFieldMapper.NAME, Uid.encodeId("kept"), Field.Store.YES));
        writer.addDocument(kept);
        ids.add("kept");
        writer.flush();
        segments.add(ids);
      }
      writer.commit();
    }
    return segments;
  }

  private IdCache cache(long most, CircuitBreaker breaker) {
    return new IdCache(most, breaker, tasks::add, now::get);
  }

  private void runTasks() {
    while (tasks.isEmpty() == false) {
      tasks.remove().run();
    }
  }

  private static void assertIds(List<String> expected, SegmentIds ids) {
    for (int doc = 0; doc < expected.size(); doc++) {
      assertEquals(expected.get(doc), ids.get(doc));
    }
  }

  public void testIdsAreThoseThatAreStored() throws IOException {
    try (Directory directory = newDirectory()) {
      List<List<String>> written = write(directory, 1 + random().nextInt(400), 1);
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        for (int i = 0; i < written.size(); i++) {
          LeafReader leaf = reader.leaves().get(i).reader();
          AtomicLong reserved = new AtomicLong();
          SegmentIds ids =
              SegmentIds.read(
                  leaf,
                  bytes -> {
                    assertTrue(bytes >= 0);
                    reserved.addAndGet(bytes);
                    return true;
                  });
          assertIds(written.get(i), ids);
          assertEquals(ids.ramBytesUsed(), reserved.get());
        }
      }
    }
  }

  public void testClosedWhileItIsRead() throws IOException {
    CircuitBreaker breaker = RequestBreaker.withLimit(ROOM);
    IdCache cache = cache(ROOM, breaker);
    try (Directory directory = newDirectory()) {
      write(directory, 100);
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        cache.get(reader.leaves().get(0).reader(), 1_000);
        assertEquals(1, tasks.size());
      }
      // the task holds the segment
      runTasks();
      assertEquals(0, breaker.getUsed());
    }
  }

  public void testBounds() throws IOException {
    try (Directory directory = newDirectory()) {
      write(directory, 300);
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        LeafReader leaf = reader.leaves().get(0).reader();
        CircuitBreaker breaker = RequestBreaker.withLimit(ROOM);
        IdCache off = cache(0, breaker);
        assertNull(off.get(leaf, 1_000));
        assertTrue(tasks.isEmpty());
        long needed = SegmentIds.read(leaf, bytes -> true).ramBytesUsed();
        IdCache small = cache(1 + random().nextInt((int) needed - 1), breaker);
        small.get(leaf, 1_000);
        runTasks();
        assertNull(small.get(leaf, 1));
        assertEquals(0, breaker.getUsed());
        CircuitBreaker tight = RequestBreaker.withLimit(1 + random().nextInt((int) needed - 1));
        IdCache refused = cache(ROOM, tight);
        refused.get(leaf, 1_000);
        runTasks();
        assertNull(refused.get(leaf, 1));
        assertEquals(0, tight.getUsed());
        IdCache rejected =
            new IdCache(
                ROOM,
                breaker,
                task -> {
                  throw new RejectedExecutionException("the node stops");
                });
        assertNull(rejected.get(leaf, 1_000));
        assertEquals(0, breaker.getUsed());
      }
    }
  }

  public void testIdleSegmentsMakeRoom() throws IOException {
    try (Directory directory = newDirectory()) {
      List<List<String>> written = write(directory, 200, 200);
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        LeafReader first = reader.leaves().get(0).reader();
        LeafReader second = reader.leaves().get(1).reader();
        long room =
            Math.max(
                SegmentIds.read(first, bytes -> true).ramBytesUsed(),
                SegmentIds.read(second, bytes -> true).ramBytesUsed());
        CircuitBreaker breaker = RequestBreaker.withLimit(ROOM);
        IdCache cache = cache(room, breaker);
        cache.get(first, 1_000);
        runTasks();
        assertNotNull(cache.get(first, 1));
        cache.get(second, 1_000);
        runTasks();
        assertNotNull("it was used just now", cache.get(first, 1));
        assertNull(cache.get(second, 1));
        now.addAndGet(61_000_000_000L);
        cache.get(second, 1_000);
        runTasks();
        assertNull(cache.get(first, 1));
        assertIds(written.get(1), cache.get(second, 1));
        assertEquals(cache.get(second, 1).ramBytesUsed(), breaker.getUsed());
      }
    }
  }
}
