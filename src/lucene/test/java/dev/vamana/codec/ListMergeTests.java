package dev.vamana.codec;

import dev.vamana.ivf.CodeKind;
import dev.vamana.ivf.InvertedLists;
import dev.vamana.ivf.ListShape;
import dev.vamana.search.SegmentView;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.CRC32;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.VectorUtil;

/** Merges of segments with inverted lists copy codes, and both types may lie side by side. */
public class ListMergeTests extends LuceneTestCase {

  private static final int DIMENSION = 20;

  private static VamanaParameters lists(CodeKind kind) {
    return Segments.SMALL.withType(IndexType.IVF, kind);
  }

  private static CodeKind anyKind() {
    return CodeKind.values()[random().nextInt(CodeKind.values().length)];
  }

  private static IndexWriterConfig config(VamanaParameters parameters, BuildStatistics statistics) {
    return Segments.config(
            new VamanaVectorsFormat(
                parameters, Workers.callingThread(), CodebookProvider.NONE, statistics))
        .setMergePolicy(new LogDocMergePolicy());
  }

  private static void add(IndexWriter writer, float[][] vectors, int from, int to)
      throws IOException {
    for (int i = from; i < to; i++) {
      writer.addDocument(Segments.document(i, vectors[i], VectorSimilarityFunction.EUCLIDEAN));
    }
    writer.flush();
  }

  /** The codes of the largest source are copied, and deleted vectors leave their list. */
  public void testMergeCopiesCodes() throws IOException {
    float[][] vectors = Segments.clustered(random(), 700, DIMENSION);
    BuildStatistics statistics = new BuildStatistics();
    try (Directory directory = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, config(lists(anyKind()), statistics))) {
        add(writer, vectors, 0, 100);
        add(writer, vectors, 100, 700);
        assertEquals(700, statistics.snapshot().listCodesEncoded());
        for (int i = 100; i < 150; i++) {
          writer.deleteDocuments(new Term(Segments.ID, Integer.toString(i)));
        }
        writer.forceMerge(1);
      }
      BuildStatistics.Snapshot done = statistics.snapshot();
      assertEquals(550, done.listCodesCopied());
      assertEquals(800, done.listCodesEncoded());
      assertEquals(3, done.lists());
      assertEquals(1, done.centroidsKept());
      float[][] left = Arrays.copyOf(vectors, 700);
      Arrays.fill(left, 100, 150, null);
      assertFindsNearest(directory, left);
      assertEveryOrdinalIsInItsList(directory);
      TestUtil.checkIndex(directory);
    }
  }

  /** A second merge of what has the same centroids encodes nothing, and gives the same codes. */
  public void testCopiedCodesAreThoseOfTheVectors() throws IOException {
    float[][] vectors = Segments.clustered(random(), 400, DIMENSION);
    CodeKind kind = anyKind();
    BuildStatistics statistics = new BuildStatistics();
    try (Directory directory = new ByteBuffersDirectory();
        Directory other = new ByteBuffersDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, config(lists(kind), statistics))) {
        add(writer, vectors, 0, 400);
      }
      byte[] before = listBytes(directory);
      try (DirectoryReader reader = DirectoryReader.open(directory);
          IndexWriter writer = new IndexWriter(other, config(lists(kind), statistics))) {
        writer.addIndexes((CodecReader) reader.leaves().get(0).reader());
      }
      assertEquals(400, statistics.snapshot().listCodesEncoded());
      assertEquals(400, statistics.snapshot().listCodesCopied());
      byte[] after = listBytes(other);
      assertEquals(before.length, after.length);
      // radii are computed again from the factors
      int different = 0;
      for (int i = 0; i < before.length; i++) {
        different += before[i] == after[i] ? 0 : 1;
      }
      int lists = only(directory).shape().lists();
      assertTrue(different + " bytes of " + lists + " lists", different <= 4 * lists);
    }
  }

  /** A list that names a vector twice, with a right checksum, fails the merge as damaged. */
  public void testVectorInTwoPlaces() throws IOException {
    float[][] vectors = Segments.clustered(random(), 400, DIMENSION);
    VamanaParameters parameters = lists(anyKind());
    try (Directory intact = new ByteBuffersDirectory();
        Directory damaged = new ByteBuffersDirectory();
        Directory other = new ByteBuffersDirectory()) {
      try (IndexWriter writer =
          new IndexWriter(intact, config(parameters, new BuildStatistics()))) {
        add(writer, vectors, 0, 400);
      }
      String file =
          Segments.files(intact).stream().filter(name -> name.endsWith(".vex")).findAny().get();
      Segments.copy(intact, damaged, file, withOrdinalTwice(intact, file));
      try (DirectoryReader reader = DirectoryReader.open(damaged);
          IndexWriter writer = new IndexWriter(other, config(parameters, new BuildStatistics()))) {
        CodecReader leaf = (CodecReader) reader.leaves().get(0).reader();
        expectThrows(CorruptIndexException.class, () -> writer.addIndexes(leaf));
        writer.rollback();
      }
    }
  }

  /** Returns a file in which one list's second ordinal is its first. */
  private static byte[] withOrdinalTwice(Directory directory, String file) throws IOException {
    byte[] content = Segments.content(directory, file);
    ByteBuffer bytes = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      InvertedLists lists =
          Segments.field(reader.leaves().get(0).reader(), Segments.FLOATS).lists();
      int region = Math.toIntExact(lists.region().offset());
      int start = region + Math.toIntExact(lists.shape().listsOffset());
      int table = region + Math.toIntExact(lists.shape().tableOffset());
      int bytesOfEntry = lists.shape().headBytes() + lists.shape().tailBytes();
      int list = 0;
      while (bytes.getInt(table + 16 * list) < 2) {
        start += ListShape.places(bytes.getInt(table + 16 * list)) * bytesOfEntry;
        list++;
      }
      bytes.putInt(start + Integer.BYTES, bytes.getInt(start));
    }
    CRC32 checksum = new CRC32();
    checksum.update(content, 0, content.length - Long.BYTES);
    bytes.order(ByteOrder.BIG_ENDIAN).putLong(content.length - Long.BYTES, checksum.getValue());
    return content;
  }

  public void testTheTypesLieSideBySide() throws IOException {
    float[][] vectors = Segments.clustered(random(), 600, DIMENSION);
    try (Directory directory = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, Segments.config(lists(anyKind())))) {
        add(writer, vectors, 0, 300);
      }
      try (IndexWriter writer = new IndexWriter(directory, Segments.config(Segments.SMALL))) {
        add(writer, vectors, 300, 600);
      }
      assertKinds(directory, true, false);
      assertFindsNearest(directory, vectors);
      forceMerge(directory, Segments.SMALL);
      assertKinds(directory, false);
      assertFindsNearest(directory, vectors);
      TestUtil.checkIndex(directory);
    }
    try (Directory directory = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, Segments.config(Segments.SMALL))) {
        add(writer, vectors, 0, 300);
        add(writer, vectors, 300, 600);
      }
      forceMerge(directory, lists(anyKind()));
      assertKinds(directory, true);
      assertFindsNearest(directory, vectors);
      TestUtil.checkIndex(directory);
    }
  }

  public void testSortedIndexWithGaps() throws IOException {
    float[][] vectors = Segments.clustered(random(), 500, DIMENSION);
    try (Directory directory = newDirectory()) {
      IndexWriterConfig config =
          config(lists(anyKind()), new BuildStatistics())
              .setIndexSort(new Sort(new SortField("key", SortField.Type.LONG)));
      try (IndexWriter writer = new IndexWriter(directory, config)) {
        for (int i = 0; i < vectors.length; i++) {
          vectors[i] = i % 3 == 0 ? null : vectors[i];
          var document = Segments.document(i, vectors[i], VectorSimilarityFunction.EUCLIDEAN);
          document.add(new NumericDocValuesField("key", random().nextInt(1000)));
          writer.addDocument(document);
          if (i == 150) {
            writer.flush();
          }
        }
        writer.forceMerge(1);
      }
      assertFindsNearest(directory, vectors);
      assertEveryOrdinalIsInItsList(directory);
    }
  }

  /** The bytes do not depend on the number of threads, except for the random identity. */
  public void testThreadsDoNotChangeLists() throws Exception {
    float[][] vectors = Segments.clustered(random(), 500, DIMENSION);
    VamanaParameters parameters = lists(anyKind());
    ExecutorService pool = Executors.newFixedThreadPool(3);
    try (Directory one = new ByteBuffersDirectory();
        Directory many = new ByteBuffersDirectory()) {
      try (IndexWriter writer = new IndexWriter(one, Segments.config(parameters))) {
        add(writer, vectors, 0, 500);
      }
      try (IndexWriter writer =
          new IndexWriter(
              many, Segments.config(new VamanaVectorsFormat(parameters, new Workers(pool, 4))))) {
        add(writer, vectors, 0, 500);
      }
      assertArrayEquals(listBytes(one), listBytes(many));
    } finally {
      pool.shutdown();
    }
  }

  private static void forceMerge(Directory directory, VamanaParameters parameters)
      throws IOException {
    try (IndexWriter writer =
        new IndexWriter(directory, config(parameters, new BuildStatistics()))) {
      writer.forceMerge(1);
    }
  }

  private static void assertKinds(Directory directory, boolean... lists) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      assertEquals(lists.length, reader.leaves().size());
      for (LeafReaderContext leaf : reader.leaves()) {
        SegmentView view = Segments.field(leaf.reader(), Segments.FLOATS);
        assertEquals(lists[leaf.ord], view.hasLists());
        assertEquals(lists[leaf.ord] == false, view.hasGraph());
      }
    }
  }

  private static InvertedLists only(Directory directory) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      return Segments.field(reader.leaves().get(0).reader(), Segments.FLOATS).lists();
    }
  }

  private static byte[] listBytes(Directory directory) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      InvertedLists lists =
          Segments.field(reader.leaves().get(0).reader(), Segments.FLOATS).lists();
      IndexInput in = lists.region().open();
      byte[] bytes = new byte[Math.toIntExact(in.length())];
      in.readBytes(bytes, 0, bytes.length);
      return bytes;
    }
  }

  private static void assertEveryOrdinalIsInItsList(Directory directory) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      SegmentField field = Segments.field(reader.leaves().get(0).reader(), Segments.FLOATS);
      InvertedLists lists = field.lists();
      IndexInput in = lists.region().open();
      boolean[] seen = new boolean[field.size()];
      long table = lists.shape().tableOffset();
      long start = lists.shape().listsOffset();
      for (int list = 0; list < lists.shape().lists(); list++) {
        in.seek(table + 16L * list);
        int count = in.readInt();
        assertEquals(0, start % 64);
        int last = -1;
        long places = (count + 7) / 8 * 8;
        for (int i = 0; i < count; i++) {
          // ordinals are the first column of each block of 256 heads
          in.seek(start + i / 256 * 256L * lists.shape().headBytes() + i % 256 * 4L);
          int ordinal = in.readInt();
          assertTrue(ordinal > last);
          last = ordinal;
          assertFalse(seen[ordinal]);
          seen[ordinal] = true;
          in.seek(lists.shape().numbersOffset() + 2L * ordinal);
          assertEquals(list, Short.toUnsignedInt(in.readShort()));
        }
        start += places * (lists.shape().headBytes() + lists.shape().tailBytes());
      }
      if (lists.shape().kind() == CodeKind.PQ) {
        // a codebook
        start += 4L * 256 * DIMENSION;
      }
      assertEquals(in.length(), start);
      for (boolean each : seen) {
        assertTrue(each);
      }
    }
  }

  /** With as many candidates as half of the vectors, each vector finds itself. */
  private static void assertFindsNearest(Directory directory, float[][] vectors)
      throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      IndexSearcher searcher = new IndexSearcher(reader);
      for (int i = 0; i < 30; i++) {
        int id = random().nextInt(vectors.length);
        if (vectors[id] == null) {
          continue;
        }
        // a walk with fewer may end in another cluster
        int candidates = vectors.length / 2;
        ScoreDoc[] hits =
            searcher.search(new KnnFloatVectorQuery(Segments.FLOATS, vectors[id], candidates), 20)
                .scoreDocs;
        assertEquals(20, hits.length);
        assertEquals(1, hits[0].score, 1e-6);
        for (ScoreDoc hit : hits) {
          int found = Integer.parseInt(searcher.storedFields().document(hit.doc).get(Segments.ID));
          float square = VectorUtil.squareDistance(vectors[id], vectors[found]);
          assertEquals(1 / (1 + square), hit.score, 1e-5);
        }
      }
    }
  }
}
