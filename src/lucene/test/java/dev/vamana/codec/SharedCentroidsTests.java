package dev.vamana.codec;

import dev.vamana.ivf.CentroidsId;
import dev.vamana.ivf.CodeKind;
import dev.vamana.ivf.InvertedLists;
import dev.vamana.ivf.ListShape;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;

/** Segments take over centroids of the segments before, so that merges copy codes. */
public class SharedCentroidsTests extends LuceneTestCase {

  private static final int DIMENSION = 20;

  private final BuildStatistics statistics = new BuildStatistics();
  private final CodeKind kind = CodeKind.values()[random().nextInt(CodeKind.values().length)];
  private final VamanaVectorsFormat format = format();

  private VamanaVectorsFormat format() {
    return new VamanaVectorsFormat(
        Segments.SMALL.withType(IndexType.IVF, kind),
        Workers.callingThread(),
        CodebookProvider.NONE,
        statistics);
  }

  private IndexWriterConfig config() {
    return Segments.config(format).setMergePolicy(new LogDocMergePolicy());
  }

  private static void add(IndexWriter writer, float[][] vectors, int from, int to)
      throws IOException {
    for (int i = from; i < to; i++) {
      writer.addDocument(Segments.document(i, vectors[i], VectorSimilarityFunction.EUCLIDEAN));
    }
    writer.flush();
  }

  private static float[][] moved(float[][] vectors, float by) {
    float[][] moved = new float[vectors.length][];
    for (int i = 0; i < vectors.length; i++) {
      moved[i] = vectors[i].clone();
      for (int d = 0; d < moved[i].length; d++) {
        moved[i][d] += by;
      }
    }
    return moved;
  }

  /** Vectors in an order that has nothing to do with their clusters. */
  private static float[][] vectors(int count) {
    return Segments.clustered(random(), count, DIMENSION);
  }

  private static CentroidsId id(LeafReaderContext leaf) throws IOException {
    return Segments.field(leaf.reader(), Segments.FLOATS).lists().facts().id();
  }

  /** Returns the code with its factors of each ordinal. */
  private static List<byte[]> codes(LeafReaderContext leaf) throws IOException {
    InvertedLists lists = Segments.field(leaf.reader(), Segments.FLOATS).lists();
    ListShape shape = lists.shape();
    IndexInput in = lists.region().open();
    List<byte[]> codes = new ArrayList<>();
    for (int ordinal = 0; ordinal < shape.size(); ordinal++) {
      codes.add(null);
    }
    long start = shape.listsOffset();
    for (int list = 0; list < shape.lists(); list++) {
      in.seek(shape.tableOffset() + 16L * list);
      int count = in.readInt();
      int places = ListShape.places(count);
      for (int i = 0; i < count; i++) {
        int first = i / ListShape.BLOCK * ListShape.BLOCK;
        int together = Math.min(ListShape.BLOCK, places - first);
        long block = start + (long) first * shape.headBytes();
        byte[] code = new byte[12 + 8 * shape.words() + shape.tailBytes()];
        for (int number = 1; number < 4; number++) {
          in.seek(block + 4L * (number * together + i - first));
          in.readBytes(code, 4 * number - 4, 4);
        }
        for (int word = 0; word < shape.words(); word++) {
          in.seek(block + 16L * together + 8L * (word * together + i - first));
          in.readBytes(code, 12 + 8 * word, 8);
        }
        in.seek(start + (long) places * shape.headBytes() + (long) i * shape.tailBytes());
        in.readBytes(code, 12 + 8 * shape.words(), shape.tailBytes());
        in.seek(block + 4L * (i - first));
        codes.set(in.readInt(), code);
      }
      start += (long) places * (shape.headBytes() + shape.tailBytes());
    }
    return codes;
  }

  public void testMergeCopiesAllCodesByteForByte() throws IOException {
    float[][] vectors = vectors(900);
    try (Directory directory = newDirectory();
        Directory merged = newDirectory()) {
      try (IndexWriter writer =
          new IndexWriter(directory, config().setMergePolicy(NoMergePolicy.INSTANCE))) {
        add(writer, vectors, 0, 400);
        add(writer, vectors, 400, 700);
        add(writer, vectors, 700, 900);
      }
      BuildStatistics.Snapshot flushed = statistics.snapshot();
      assertEquals(3, flushed.lists());
      assertEquals(2, flushed.centroidsShared());
      assertEquals(900, flushed.listCodesEncoded());
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        List<byte[]> before = new ArrayList<>();
        CodecReader[] readers = new CodecReader[reader.leaves().size()];
        for (LeafReaderContext leaf : reader.leaves()) {
          assertEquals(id(reader.leaves().get(0)), id(leaf));
          before.addAll(codes(leaf));
          readers[leaf.ord] = (CodecReader) leaf.reader();
        }
        try (IndexWriter writer = new IndexWriter(merged, config())) {
          writer.addIndexes(readers);
        }
        BuildStatistics.Snapshot done = statistics.snapshot();
        assertEquals("nothing is encoded again", 900, done.listCodesEncoded());
        assertEquals(900, done.listCodesCopied());
        assertEquals(1, done.centroidsKept());
        try (DirectoryReader after = DirectoryReader.open(merged)) {
          List<byte[]> copied = codes(after.leaves().get(0));
          assertEquals(before.size(), copied.size());
          for (int i = 0; i < before.size(); i++) {
            assertArrayEquals("ordinal " + i, before.get(i), copied.get(i));
          }
        }
      }
      TestUtil.checkIndex(merged);
    }
  }

  public void testDeletedVectorsLeave() throws IOException {
    float[][] vectors = vectors(700);
    try (Directory directory = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, config())) {
        add(writer, vectors, 0, 400);
        add(writer, vectors, 400, 700);
        for (int i = 350; i < 450; i++) {
          writer.deleteDocuments(new Term(Segments.ID, Integer.toString(i)));
        }
        writer.forceMerge(1);
      }
      BuildStatistics.Snapshot done = statistics.snapshot();
      assertEquals(1, done.centroidsShared());
      assertEquals(700, done.listCodesEncoded());
      assertEquals(600, done.listCodesCopied());
      TestUtil.checkIndex(directory);
    }
  }

  /** Vectors that are far from all centroids get centroids of their own. */
  public void testVectorsUnlikeThoseBefore() throws IOException {
    float[][] vectors = vectors(400);
    try (Directory directory = newDirectory()) {
      try (IndexWriter writer =
          new IndexWriter(directory, config().setMergePolicy(NoMergePolicy.INSTANCE))) {
        add(writer, vectors, 0, 400);
        add(writer, moved(vectors, 50), 0, 400);
      }
      assertEquals(0, statistics.snapshot().centroidsShared());
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        assertNotEquals(id(reader.leaves().get(0)), id(reader.leaves().get(1)));
      }
    }
  }

  /** Indices that share a format may have fields of one name and of different dimensions. */
  public void testFieldsOfOneName() throws IOException {
    for (int dimension : new int[] {DIMENSION, DIMENSION + 1}) {
      float[][] vectors = Segments.clustered(random(), 300, dimension);
      try (Directory directory = newDirectory()) {
        try (IndexWriter writer = new IndexWriter(directory, config())) {
          add(writer, vectors, 0, 300);
        }
        TestUtil.checkIndex(directory);
      }
    }
    assertEquals(0, statistics.snapshot().centroidsShared());
  }
}
