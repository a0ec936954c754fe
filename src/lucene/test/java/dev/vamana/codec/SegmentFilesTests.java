package dev.vamana.codec;

import dev.vamana.search.VamanaSearchStrategy;
import dev.vamana.search.WalkParameters;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopKnnCollector;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.store.NIOFSDirectory;
import org.apache.lucene.tests.util.LuceneTestCase;

/** The files of a segment, and what directories make of them. */
// these tests copy and damage all files of an index, so there must be no others
@LuceneTestCase.SuppressFileSystems("ExtrasFS")
public class SegmentFilesTests extends LuceneTestCase {

  private static final int DIMENSION = 17;
  private static final int DOCS = 300;

  private static void index(Directory directory, float[][] vectors, boolean compound)
      throws IOException {
    IndexWriterConfig config = Segments.config(Segments.SMALL).setUseCompoundFile(compound);
    try (IndexWriter writer = new IndexWriter(directory, config)) {
      for (int i = 0; i < vectors.length; i++) {
        writer.addDocument(Segments.document(i, vectors[i]));
      }
    }
  }

  public void testMappedRegions() throws IOException {
    for (boolean compound : new boolean[] {false, true}) {
      try (Directory directory = new MMapDirectory(createTempDir())) {
        float[][] vectors = Segments.clustered(random(), DOCS, DIMENSION);
        index(directory, vectors, compound);
        assertEquals(compound, Segments.files(directory).isEmpty());
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
          LeafReader leaf = reader.leaves().get(0).reader();
          for (String name : List.of(Segments.FLOATS, Segments.BYTES)) {
            SegmentField field = Segments.field(leaf, name);
            checkMapped(field.graphRegion(), DOCS * 16L * Integer.BYTES, compound);
            checkMapped(field.codesRegion(), DOCS * 4L, compound);
            int bytes = name.equals(Segments.FLOATS) ? Float.BYTES : 1;
            MemorySegment raw = field.vectorsRegion().segment();
            assertNotNull(raw);
            assertEquals((long) DOCS * DIMENSION * bytes, raw.byteSize());
          }
          SegmentField floats = Segments.field(leaf, Segments.FLOATS);
          float[] first = new float[DIMENSION];
          MemorySegment.copy(
              floats.vectorsRegion().segment(),
              ValueLayout.JAVA_FLOAT_UNALIGNED,
              (DOCS - 1L) * DIMENSION * Float.BYTES,
              first,
              0,
              DIMENSION);
          assertArrayEquals(vectors[DOCS - 1], first, 0f);
        }
      }
    }
  }

  /** In memory, too, a row must not cross more 64-byte lines than it has to. */
  private static void checkMapped(FileRegion region, long length, boolean compound)
      throws IOException {
    assertEquals(length, region.length());
    assertEquals(0, region.offset() % VamanaVectorsFormat.ALIGNMENT);
    MemorySegment segment = region.segment();
    assertNotNull(segment);
    assertEquals(length, segment.byteSize());
    assertEquals(
        "address, compound=" + compound, 0, segment.address() % VamanaVectorsFormat.ALIGNMENT);
    byte[] read = new byte[Math.toIntExact(length)];
    IndexInput in = region.open();
    in.readBytes(read, 0, read.length);
    assertArrayEquals(segment.toArray(ValueLayout.JAVA_BYTE), read);
  }

  public void testSameHitsInAllDirectories() throws IOException {
    float[][] vectors = Segments.clustered(random(), DOCS, DIMENSION);
    try (FSDirectory mapped = new MMapDirectory(createTempDir());
        FSDirectory buffered = new NIOFSDirectory(mapped.getDirectory());
        Directory heap = new ByteBuffersDirectory();
        Directory chunked = new MMapDirectory(mapped.getDirectory(), 1 << 12);
        Directory wrapped = newMockFSDirectory(mapped.getDirectory())) {
      index(mapped, vectors, random().nextBoolean());
      for (String file : mapped.listAll()) {
        if (file.equals(IndexWriter.WRITE_LOCK_NAME) == false) {
          heap.copyFrom(mapped, file, file, org.apache.lucene.store.IOContext.DEFAULT);
        }
      }
      List<ScoreDoc> expected = null;
      for (Directory directory : List.of(mapped, buffered, heap, chunked, wrapped)) {
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
          LeafReader leaf = reader.leaves().get(0).reader();
          SegmentField field = Segments.field(leaf, Segments.FLOATS);
          if (directory == buffered || directory == heap) {
            assertNull(field.graphRegion().segment());
            assertNull(field.codesRegion().segment());
            assertNull(field.vectorsRegion().segment());
          } else if (directory == chunked) {
            assertNull("across chunks", field.graphRegion().segment());
          }
          List<ScoreDoc> hits = hits(leaf, vectors);
          if (expected == null) {
            expected = hits;
          }
          assertSameHits(directory.toString(), expected, hits);
        }
      }
    }
  }

  /** Scorers of mapped and of copied vectors may add in another order, and so swap neighbours. */
  private static void assertSameHits(
      String message, List<ScoreDoc> expected, List<ScoreDoc> actual) {
    assertEquals(message, expected.size(), actual.size());
    for (int i = 0; i < expected.size(); i++) {
      float score = expected.get(i).score;
      float slack = 1e-5f * score;
      assertEquals(message + " hit " + i, score, actual.get(i).score, slack);
      if (expected.get(i).doc != actual.get(i).doc) {
        boolean tied = false;
        for (int other : new int[] {i - 1, i + 1}) {
          tied |=
              other >= 0
                  && other < expected.size()
                  && Math.abs(expected.get(other).score - score) <= slack;
        }
        assertTrue(message + " hit " + i + ": " + expected.get(i) + ", " + actual.get(i), tied);
      }
    }
  }

  /** Hits of both walks and of the scan, for both fields. */
  private static List<ScoreDoc> hits(LeafReader leaf, float[][] vectors) throws IOException {
    List<ScoreDoc> hits = new ArrayList<>();
    for (int q = 0; q < 10; q++) {
      for (WalkParameters walk :
          Arrays.asList(null, WalkParameters.exact(12), WalkParameters.quantized(12, 12))) {
        for (int k : new int[] {3, DOCS}) {
          for (boolean floats : new boolean[] {true, false}) {
            TopKnnCollector collector =
                walk == null
                    ? new TopKnnCollector(k, Integer.MAX_VALUE)
                    : new TopKnnCollector(k, Integer.MAX_VALUE, new VamanaSearchStrategy(walk));
            AcceptDocs all = AcceptDocs.fromLiveDocs(null, leaf.maxDoc());
            if (floats) {
              leaf.searchNearestVectors(Segments.FLOATS, vectors[q], collector, all);
            } else {
              leaf.searchNearestVectors(Segments.BYTES, Segments.bytes(vectors[q]), collector, all);
            }
            hits.addAll(Arrays.asList(collector.topDocs().scoreDocs));
          }
        }
      }
    }
    return hits;
  }

  /** Rows as documented: ordinals, no node twice, none of itself, then only unused slots. */
  public void testRowsAsDocumented() throws IOException {
    int size = 1 + random().nextInt(DOCS);
    int degree = 4 + random().nextInt(20);
    try (Directory directory = newDirectory()) {
      IndexWriterConfig config =
          Segments.config(Segments.SMALL.withGraph(degree, Math.max(degree, 30), 1.2f));
      try (IndexWriter writer = new IndexWriter(directory, config)) {
        float[][] vectors = Segments.clustered(random(), size, DIMENSION);
        for (int i = 0; i < size; i++) {
          writer.addDocument(Segments.document(i, vectors[i]));
        }
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        SegmentField field = Segments.field(reader.leaves().get(0).reader(), Segments.FLOATS);
        int stride = field.metadata().graph().stride();
        assertEquals((degree + 3) / 4 * 4, stride);
        IndexInput in = field.graphRegion().open();
        for (int ordinal = 0; ordinal < size; ordinal++) {
          Set<Integer> row = new TreeSet<>();
          boolean unused = false;
          for (int slot = 0; slot < stride; slot++) {
            int neighbor = in.readInt();
            if (neighbor == -1) {
              unused = true;
            } else {
              assertFalse("ordinal after an unused slot", unused);
              assertTrue(neighbor >= 0 && neighbor < size && neighbor != ordinal);
              assertTrue("twice in a row", row.add(neighbor));
            }
          }
          assertTrue(row.size() <= degree);
        }
      }
    }
  }
}
