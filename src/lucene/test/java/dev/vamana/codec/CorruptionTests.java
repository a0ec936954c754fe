package dev.vamana.codec;

import dev.vamana.search.VamanaSearchStrategy;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.TreeSet;
import org.apache.lucene.codecs.CodecUtil;
import org.apache.lucene.codecs.hnsw.DefaultFlatVectorScorer;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexFileNames;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.util.FixedBitSet;

/** Damaged files are detected, and what is not detected at open does no worse than miss hits. */
// these tests copy and damage all files of an index, so there must be no others
@LuceneTestCase.SuppressFileSystems("ExtrasFS")
public class CorruptionTests extends LuceneTestCase {

  private static final int DIMENSION = 12;
  private static final int DOCS = 400;

  private final ByteBuffersDirectory intact = new ByteBuffersDirectory();
  private float[][] vectors;

  /** Parameters of the segments. */
  VamanaParameters parameters() {
    return Segments.SMALL;
  }

  /** Part of the messages about damaged bodies. */
  String complaint() {
    return "names neighbor";
  }

  @Override
  public void setUp() throws Exception {
    super.setUp();
    vectors = Segments.clustered(random(), DOCS, DIMENSION);
    try (IndexWriter writer = new IndexWriter(intact, Segments.config(parameters()))) {
      for (int i = 0; i < DOCS; i++) {
        writer.addDocument(Segments.document(i, vectors[i]));
      }
    }
    assertEquals(5, Segments.files(intact).size());
  }

  @Override
  public void tearDown() throws Exception {
    intact.close();
    super.tearDown();
  }

  public void testTruncationIsDetectedAtOpen() throws IOException {
    for (String file : Segments.files(intact)) {
      byte[] content = Segments.content(intact, file);
      TreeSet<Integer> lengths = new TreeSet<>();
      int header = headerLength(file);
      int end = content.length;
      lengths.addAll(List.of(0, 1, header - 1, header, header + 1, end - 17, end - 16, end - 1));
      for (int i = 0; i < 20; i++) {
        lengths.add(random().nextInt(end));
      }
      for (int length : lengths) {
        expectOpenFails(file, Arrays.copyOf(content, length), "cut to " + length + " of " + end);
      }
    }
  }

  public void testLostFileIsDetectedAtOpen() throws IOException {
    for (String file : Segments.files(intact)) {
      try (Directory damaged = new ByteBuffersDirectory()) {
        Segments.copy(intact, damaged, "unused", new byte[0]);
        damaged.deleteFile(file);
        expectThrows(IOException.class, () -> DirectoryReader.open(damaged).close());
      }
    }
  }

  /** Appended bytes are what a wrongly assembled copy has. */
  public void testAppendedBytesAreDetectedAtOpen() throws IOException {
    for (String file : Segments.files(intact)) {
      byte[] content = Segments.content(intact, file);
      byte[] longer = Arrays.copyOf(content, content.length + 1 + random().nextInt(100));
      expectOpenFails(file, longer, "appended");
    }
  }

  public void testDamagedHeaderIsDetectedAtOpen() throws IOException {
    for (String file : Segments.files(intact)) {
      byte[] content = Segments.content(intact, file);
      for (int at = 0; at < headerLength(file); at++) {
        expectOpenFails(file, flipped(content, at), "bit of byte " + at);
      }
    }
  }

  public void testDamagedMetadataIsDetectedAtOpen() throws IOException {
    for (String file : Segments.files(intact)) {
      if (file.endsWith(".vem") || file.endsWith(".vemf")) {
        byte[] content = Segments.content(intact, file);
        for (int at = 0; at < content.length; at++) {
          expectOpenFails(file, flipped(content, at), "bit of byte " + at);
        }
      }
    }
  }

  /** A damaged length must not be taken for an order to allocate as much. */
  public void testDamagedLengthOfNameIsDetectedAtOpen() throws IOException {
    assumeTrue("only codebooks have names", parameters().type() == IndexType.GRAPH);
    byte[] id;
    try (DirectoryReader reader = DirectoryReader.open(intact)) {
      id =
          Segments.field(reader.leaves().get(0).reader(), Segments.FLOATS)
              .metadata()
              .quantization()
              .codebookId()
              .id();
    }
    for (String file : Segments.files(intact)) {
      if (file.endsWith(".vem")) {
        byte[] content = Segments.content(intact, file);
        int at = 0;
        while (Arrays.equals(content, at, at + id.length, id, 0, id.length) == false) {
          at++;
        }
        at += id.length;
        assertEquals("length of the empty name", 0, content[at]);
        Arrays.fill(content, at, at + 4, (byte) 0xFF);
        content[at + 4] = 0x07;
        expectOpenFails(file, content, "name of 2 GB");
      }
    }
  }

  public void testDamagedFooterIsDetectedAtOpen() throws IOException {
    for (String file : Segments.files(intact)) {
      byte[] content = Segments.content(intact, file);
      int footer = content.length - CodecUtil.footerLength();
      // magic, algorithm and the unused upper half of the checksum; its lower half is for
      // checkIntegrity to compare
      for (int at = footer; at < footer + 12; at++) {
        expectOpenFails(file, flipped(content, at), "bit of byte " + at);
      }
    }
  }

  public void testFilesOfAnotherSegmentAreDetectedAtOpen() throws IOException {
    try (ByteBuffersDirectory other = new ByteBuffersDirectory()) {
      try (IndexWriter writer = new IndexWriter(other, Segments.config(parameters()))) {
        for (int i = 0; i < DOCS; i++) {
          writer.addDocument(Segments.document(i, vectors[i]));
        }
      }
      assertEquals(Segments.files(intact), Segments.files(other));
      for (String file : Segments.files(intact)) {
        expectOpenFails(file, Segments.content(other, file), "of another segment");
      }
    }
  }

  public void testCheckIntegrityDetectsEveryFlippedBit() throws IOException {
    for (String file : Segments.files(intact)) {
      byte[] content = Segments.content(intact, file);
      for (int i = 0; i < atLeast(100); i++) {
        int at =
            i < CodecUtil.footerLength()
                ? content.length - 1 - i
                : random().nextInt(content.length);
        try (Directory damaged = new ByteBuffersDirectory()) {
          Segments.copy(intact, damaged, file, flipped(content, at));
          expectThrows(IOException.class, () -> openAndCheck(damaged));
        }
      }
    }
    openAndCheck(intact);
  }

  public void testMergeOfDamagedSegmentFails() throws IOException {
    for (String file : Segments.files(intact)) {
      byte[] content = Segments.content(intact, file);
      int header = headerLength(file);
      int body = content.length - header - CodecUtil.footerLength();
      if (body == 0) {
        continue;
      }
      try (Directory damaged = new ByteBuffersDirectory();
          Directory target = new ByteBuffersDirectory()) {
        Segments.copy(intact, damaged, file, flipped(content, header + random().nextInt(body)));
        try (IndexWriter writer = new IndexWriter(target, Segments.config(parameters()))) {
          expectThrows(
              IOException.class,
              () -> {
                try (DirectoryReader reader = DirectoryReader.open(damaged)) {
                  for (LeafReaderContext leaf : reader.leaves()) {
                    writer.addIndexes((org.apache.lucene.index.CodecReader) leaf.reader());
                  }
                }
              });
          writer.rollback();
        }
        assertEquals(List.of(), Segments.files(target));
      }
    }
  }

  /**
   * Walks end with hits or with CorruptIndexException, whatever the bodies hold. Scorers that are
   * not vectorized, as in a JVM without its optimizing compiler, and scorers of vectors on the heap
   * assert that distances are finite; the others go on with NaN, as all of them do without
   * assertions. They compare vectors, and centroids of mapped lists.
   */
  public void testSearchesOfDamagedBodiesEnd() throws IOException {
    boolean vectorized =
        FlatVectorScorerUtil.getLucene99FlatVectorsScorer() instanceof DefaultFlatVectorScorer
            == false;
    boolean lists = parameters().type() == IndexType.IVF;
    int rounds = atLeast(60);
    for (int round = 0; round < rounds; round++) {
      for (String file : Segments.files(intact)) {
        boolean vectors = file.endsWith(".vec");
        if (file.endsWith(".vex") || file.endsWith(".veq") || (vectors && vectorized)) {
          byte[] content = Segments.content(intact, file);
          if (content.length == headerLength(file) + CodecUtil.footerLength()) {
            continue;
          }
          byte[] damaged = damagedBody(content, headerLength(file));
          boolean scored = vectors || (lists && file.endsWith(".vex"));
          boolean mapped = vectors || ((vectorized || scored == false) && random().nextBoolean());
          try (Directory directory =
              mapped ? new MMapDirectory(createTempDir()) : new ByteBuffersDirectory()) {
            Segments.copy(intact, directory, file, damaged);
            try (DirectoryReader reader = DirectoryReader.open(directory)) {
              for (int i = 0; i < 4; i++) {
                searchDamaged(reader.leaves().get(0).reader());
              }
            }
          }
        }
      }
    }
  }

  private void searchDamaged(LeafReader leaf) throws IOException {
    float[] query = vectors[random().nextInt(DOCS)];
    boolean quantized = random().nextBoolean();
    int k = 1 + random().nextInt(8);
    KnnSearchStrategy strategy =
        new VamanaSearchStrategy(
            new WalkParameters(
                1 + random().nextInt(20),
                quantized ? WalkParameters.Distances.QUANTIZED : WalkParameters.Distances.EXACT,
                1 + random().nextInt(4),
                quantized ? random().nextInt(20) - 1 : 0));
    TopKnnCollector collector =
        random().nextBoolean()
            ? new TopKnnCollector(k, Integer.MAX_VALUE, strategy)
            : new TopKnnCollector(k, Integer.MAX_VALUE);
    FixedBitSet accepted = null;
    if (random().nextBoolean()) {
      accepted = new FixedBitSet(DOCS);
      accepted.set(0, DOCS);
      accepted.clear(random().nextInt(DOCS));
    }
    AcceptDocs acceptDocs = AcceptDocs.fromLiveDocs(accepted, DOCS);
    try {
      if (random().nextBoolean()) {
        leaf.searchNearestVectors(Segments.FLOATS, query, collector, acceptDocs);
      } else {
        leaf.searchNearestVectors(Segments.BYTES, Segments.bytes(query), collector, acceptDocs);
      }
    } catch (CorruptIndexException e) {
      assertTrue(e.getMessage(), e.getMessage().contains(complaint()));
      return;
    }
    var hits = collector.topDocs().scoreDocs;
    assertTrue(hits.length <= k);
    for (var hit : hits) {
      assertTrue("document " + hit.doc, hit.doc >= 0 && hit.doc < DOCS);
      assertTrue(accepted == null || accepted.get(hit.doc));
    }
    assertEquals(hits.length, Arrays.stream(hits).mapToInt(hit -> hit.doc).distinct().count());
  }

  private byte[] damagedBody(byte[] content, int header) {
    Random random = random();
    byte[] damaged = content.clone();
    int end = content.length - CodecUtil.footerLength();
    switch (random.nextInt(4)) {
      case 0 -> {
        for (int i = 1 + random.nextInt(50); i > 0; i--) {
          damaged[header + random.nextInt(end - header)] = (byte) random.nextInt(256);
        }
      }
      case 1 -> {
        int from = header + random.nextInt(end - header);
        int to = from + random.nextInt(end - from) + 1;
        for (int i = from; i < to; i++) {
          damaged[i] = (byte) random.nextInt(256);
        }
      }
      case 2 -> Arrays.fill(damaged, header, end, (byte) (random.nextBoolean() ? 0 : -1));
      default -> {
        // small numbers: valid ordinals in any place, and subnormal floats
        for (int i = header; i < end; i++) {
          damaged[i] = i % 4 == 0 ? (byte) random.nextInt(128) : 0;
        }
      }
    }
    return damaged;
  }

  private void expectOpenFails(String file, byte[] content, String damage) throws IOException {
    try (Directory damaged = new ByteBuffersDirectory()) {
      Segments.copy(intact, damaged, file, content);
      try (DirectoryReader reader = DirectoryReader.open(damaged)) {
        fail(file + " opened, although damaged: " + damage + ", " + reader);
      } catch (IOException expected) {
        // nodes are told to exit when they run out of memory, caught or not
        for (Throwable suppressed : expected.getSuppressed()) {
          assertFalse(damage + ": " + suppressed, suppressed instanceof Error);
        }
      }
    }
  }

  private static void openAndCheck(Directory directory) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      for (LeafReaderContext leaf : reader.leaves()) {
        leaf.reader().checkIntegrity();
      }
    }
  }

  private byte[] flipped(byte[] content, int at) {
    byte[] flipped = content.clone();
    flipped[at] ^= (byte) (1 << random().nextInt(8));
    return flipped;
  }

  private static int headerLength(String file) {
    String codec =
        switch (IndexFileNames.getExtension(file)) {
          case "vex" -> VamanaVectorsFormat.GRAPH_CODEC_NAME;
          case "veq" -> VamanaVectorsFormat.QUANTIZATION_CODEC_NAME;
          case "vem" -> VamanaVectorsFormat.META_CODEC_NAME;
          case "vec" -> "Lucene99FlatVectorsFormatData";
          case "vemf" -> "Lucene99FlatVectorsFormatMeta";
          default -> throw new AssertionError(file);
        };
    return CodecUtil.indexHeaderLength(codec, VamanaVectorsFormat.NAME + "_0");
  }
}
