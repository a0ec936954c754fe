package dev.vamana.codec;

import dev.vamana.pq.CodebookId;
import dev.vamana.tools.index.VectorCodec;
import java.io.IOException;
import java.util.List;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.Sort;
import org.apache.lucene.search.SortField;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Merges reuse parts of their sources, and the result is as good as a fresh build. */
public class MergeReuseTests extends LuceneTestCase {

  private static final VectorSimilarityFunction EUCLIDEAN = VectorSimilarityFunction.EUCLIDEAN;
  private static final int DIMENSION = 16;

  private final Segments.Messages messages = new Segments.Messages();

  private IndexWriterConfig config(KnnVectorsFormat format) {
    return Segments.config(format).setMergePolicy(new LogDocMergePolicy()).setInfoStream(messages);
  }

  private IndexWriterConfig config(VamanaParameters parameters) {
    return config(Segments.format(parameters));
  }

  public void testLargestGraphIsReused() throws IOException {
    float[][] vectors = Segments.clustered(random(), 500, DIMENSION);
    try (Directory directory = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, config(Segments.SMALL))) {
        int[] cuts = {0, 100, 380, 500};
        for (int s = 0; s < 3; s++) {
          add(writer, vectors, cuts[s], cuts[s + 1]);
          writer.flush();
        }
        messages.take();
        writer.forceMerge(1);
      }
      List<String> lines = messages.take();
      expectLine(lines, "build graph of floats: 500 vectors");
      expectLine(lines, "built graph of floats: 280 nodes reused, 220 inserted, ");
      expectLine(lines, "quantize floats: 500 vectors");
      expectLine(lines, "quantized floats: codebook ");
      assertVectors(directory, vectors);
    }
  }

  public void testMostlyDeletedGraphIsNotReused() throws IOException {
    float[][] vectors = Segments.clustered(random(), 400, DIMENSION);
    try (Directory directory = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, config(Segments.SMALL))) {
        add(writer, vectors, 0, 400);
        writer.flush();
        for (int i = 0; i < 300; i++) {
          writer.deleteDocuments(new Term(Segments.ID, Integer.toString(i)));
        }
        messages.take();
        writer.forceMerge(1);
      }
      expectLine(messages.take(), "built graph of floats: 0 nodes reused, 100 inserted, ");
      assertVectors(directory, vectors);
    }
  }

  public void testSortedIndex() throws IOException {
    float[][] vectors = Segments.clustered(random(), 400, DIMENSION);
    try (Directory directory = newDirectory()) {
      IndexWriterConfig config =
          config(Segments.SMALL).setIndexSort(new Sort(new SortField("key", SortField.Type.LONG)));
      try (IndexWriter writer = new IndexWriter(directory, config)) {
        for (int i = 0; i < vectors.length; i++) {
          // every third document has no vector
          Document document = Segments.document(i, i % 3 == 0 ? null : vectors[i], EUCLIDEAN);
          document.add(new NumericDocValuesField("key", random().nextInt(1000)));
          writer.addDocument(document);
          if (i == 250 || i == 300) {
            writer.flush();
          }
        }
        messages.take();
        writer.forceMerge(1);
      }
      expectLine(messages.take(), "built graph of floats: 167 nodes reused, 99 inserted, ");
      assertVectors(directory, vectors);
    }
  }

  public void testSparseField() throws IOException {
    float[][] vectors = Segments.clustered(random(), 2000, DIMENSION);
    try (Directory directory = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, config(Segments.SMALL))) {
        for (int i = 0; i < vectors.length; i++) {
          writer.addDocument(
              Segments.document(i, random().nextInt(20) == 0 ? vectors[i] : null, EUCLIDEAN));
          if (i % 600 == 599) {
            writer.flush();
          }
        }
        for (int i = 0; i < 100; i++) {
          writer.deleteDocuments(new Term(Segments.ID, Integer.toString(random().nextInt(2000))));
        }
        writer.forceMerge(1);
      }
      assertVectors(directory, vectors);
    }
  }

  public void testKeptCodebookAndCopiedCodes() throws IOException {
    // Of several components a subspace, a codebook trained on half as many vectors is worse. Of one
    // component, chance decides which of two is.
    int dimension = 20;
    int subspaces = 5;
    float[][] vectors = Segments.clustered(random(), 12_000, dimension);
    VamanaParameters parameters =
        Segments.SMALL.withSubspaces(subspaces).withThresholds(Integer.MAX_VALUE, 5_000);
    try (Directory directory = newDirectory()) {
      CodebookId id;
      byte[][] codes = new byte[10_000][];
      try (IndexWriter writer = new IndexWriter(directory, config(parameters))) {
        add(writer, vectors, 0, codes.length);
        writer.commit();
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
          SegmentField field = onlyField(reader);
          id = field.codebook().id();
          for (int i = 0; i < codes.length; i++) {
            codes[i] = code(field, i);
          }
        }
        add(writer, vectors, codes.length, vectors.length);
        writer.deleteDocuments(new Term(Segments.ID, "0"));
        messages.take();
        writer.forceMerge(1);
      }
      expectLine(
          messages.take(), "quantized floats: codebook kept, 9999 codes copied, 2000 encoded, ");
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        SegmentField field = onlyField(reader);
        assertEquals(id, field.codebook().id());
        byte[] expected = new byte[subspaces];
        for (int i = 1; i < vectors.length; i++) {
          byte[] merged = code(field, i - 1);
          if (i < codes.length) {
            assertArrayEquals(codes[i], merged);
          }
          field.codebook().encode(vectors[i], expected, 0);
          assertArrayEquals("vector " + i, expected, merged);
        }
      }
    }
  }

  public void testCodebookIsTrainedAnewWhenVectorsMovedAway() throws IOException {
    float[][] vectors = Segments.clustered(random(), 900, DIMENSION);
    for (int i = 500; i < 900; i++) {
      for (int d = 0; d < DIMENSION; d++) {
        vectors[i][d] = vectors[i][d] * 3;
      }
    }
    try (Directory directory = newDirectory()) {
      CodebookId id;
      try (IndexWriter writer = new IndexWriter(directory, config(Segments.SMALL))) {
        add(writer, vectors, 0, 500);
        writer.commit();
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
          id = onlyField(reader).codebook().id();
        }
        add(writer, vectors, 500, 900);
        writer.flush();
        messages.take();
        writer.forceMerge(1);
      }
      expectLine(
          messages.take(), "quantized floats: codebook trained, 0 codes copied, 900 encoded, ");
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        assertNotEquals(id, onlyField(reader).codebook().id());
      }
      assertVectors(directory, vectors);
    }
  }

  public void testOtherParametersThanTheSources() throws IOException {
    float[][] vectors = Segments.clustered(random(), 400, DIMENSION);
    try (Directory directory = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, config(Segments.SMALL))) {
        add(writer, vectors, 0, 300);
      }
      boolean wider = random().nextBoolean();
      VamanaParameters other = Segments.SMALL.withGraph(wider ? 24 : 12, 48, 1.1f).withSubspaces(3);
      try (IndexWriter writer = new IndexWriter(directory, config(other))) {
        add(writer, vectors, 300, 400);
        writer.flush();
        messages.take();
        writer.forceMerge(1);
      }
      List<String> lines = messages.take();
      expectLine(lines, "built graph of floats: 300 nodes reused, 100 inserted, ");
      expectLine(lines, "quantized floats: codebook trained, 0 codes copied, 400 encoded, ");
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        SegmentField field = onlyField(reader);
        assertEquals(other.maxDegree(), field.maxDegree());
        assertEquals(3, field.codebook().layout().count());
      }
      assertVectors(directory, vectors);
    }
  }

  public void testFromOtherFormatsAndBack() throws IOException {
    int size = TEST_NIGHTLY ? 300 : 90;
    float[][] vectors = Segments.clustered(random(), size, DIMENSION);
    Codec own = new VectorCodec(Segments.format(Segments.SMALL));
    for (Codec other :
        List.of(new VectorCodec(new Lucene99HnswVectorsFormat()), Codec.forName("SimpleText"))) {
      for (List<Codec> way : List.of(List.of(other, own), List.of(own, other))) {
        try (Directory source = newDirectory();
            Directory copied = newDirectory();
            Directory merged = newDirectory()) {
          IndexWriterConfig config = config(Segments.SMALL).setCodec(way.get(0));
          try (IndexWriter writer = new IndexWriter(source, config)) {
            add(writer, vectors, 0, size * 2 / 3);
            writer.flush();
            add(writer, vectors, size * 2 / 3, size);
            writer.deleteDocuments(new Term(Segments.ID, "7"));
          }
          config = config(Segments.SMALL).setCodec(way.get(1));
          try (IndexWriter writer = new IndexWriter(copied, config)) {
            writer.addIndexes(source);
            writer.forceMerge(1);
          }
          assertVectors(copied, vectors);
          config = config(Segments.SMALL).setCodec(way.get(1));
          try (DirectoryReader reader = DirectoryReader.open(source);
              IndexWriter writer = new IndexWriter(merged, config)) {
            CodecReader[] leaves =
                reader.leaves().stream()
                    .map(leaf -> (CodecReader) leaf.reader())
                    .toArray(CodecReader[]::new);
            writer.addIndexes(leaves);
            writer.forceMerge(1);
          }
          assertVectors(merged, vectors);
        }
      }
    }
  }

  private static void add(IndexWriter writer, float[][] vectors, int from, int to)
      throws IOException {
    for (int i = from; i < to; i++) {
      writer.addDocument(Segments.document(i, vectors[i], EUCLIDEAN));
    }
  }

  private static SegmentField onlyField(DirectoryReader reader) {
    assertEquals(1, reader.leaves().size());
    return Segments.field(reader.leaves().get(0).reader(), Segments.FLOATS);
  }

  private static byte[] code(SegmentField field, int ordinal) throws IOException {
    int length = field.metadata().quantization().subspaces();
    byte[] code = new byte[length];
    IndexInput in = field.codesRegion().open();
    in.seek((long) ordinal * length);
    in.readBytes(code, 0, length);
    return code;
  }

  private static void expectLine(List<String> lines, String start) {
    assertTrue(
        "no \"" + start + "\" in " + lines,
        lines.stream().anyMatch(line -> line.startsWith(start)));
  }

  /** Every document of the only segment has its own vector, and is its own nearest neighbour. */
  private static void assertVectors(Directory directory, float[][] vectors) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      assertEquals(1, reader.leaves().size());
      LeafReader leaf = reader.leaves().get(0).reader();
      FloatVectorValues values = leaf.getFloatVectorValues(Segments.FLOATS);
      int found = 0;
      for (int ordinal = 0; ordinal < values.size(); ordinal++) {
        int doc = values.ordToDoc(ordinal);
        int id = Integer.parseInt(leaf.storedFields().document(doc).get(Segments.ID));
        assertArrayEquals(vectors[id], values.vectorValue(ordinal), 0f);
        ScoreDoc[] hits =
            leaf.searchNearestVectors(
                    Segments.FLOATS,
                    vectors[id],
                    8,
                    AcceptDocs.fromLiveDocs(leaf.getLiveDocs(), leaf.maxDoc()),
                    Integer.MAX_VALUE)
                .scoreDocs;
        found += hits.length > 0 && hits[0].doc == doc ? 1 : 0;
      }
      assertTrue(found + " of " + values.size(), found >= 0.95 * values.size());
    }
  }
}
