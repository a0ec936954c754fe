package dev.vamana.codec;

import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.SharedCodebook;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.pq.TrainingSample;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FilterLeafReader;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.util.VectorUtil;

/** Use of shared codebooks by flushes and merges, and its counters. */
public class SharedCodebookSegmentsTests extends LuceneTestCase {

  private static final int DIMENSION = 12;
  private static final VectorSimilarityFunction EUCLIDEAN = VectorSimilarityFunction.EUCLIDEAN;

  private final AtomicReference<SharedCodebook> ready = new AtomicReference<>();
  private final BuildStatistics statistics = new BuildStatistics();
  private final Segments.Messages messages = new Segments.Messages();
  private final VamanaParameters parameters = Segments.SMALL.withSubspaces(4);

  /** The field of floats names codebook "shared", nothing else does. */
  private IndexWriter writer(Directory directory) throws IOException {
    CodebookProvider codebooks =
        CodebookProvider.of(Map.of(Segments.FLOATS, "shared"), name -> ready.get());
    return writer(directory, codebooks);
  }

  private IndexWriter writer(Directory directory, CodebookProvider codebooks) throws IOException {
    Workers workers =
        random().nextBoolean() ? Workers.callingThread() : new Workers(Runnable::run, 3);
    VamanaVectorsFormat format =
        new VamanaVectorsFormat(parameters, workers, codebooks, statistics);
    return new IndexWriter(
        directory,
        Segments.config(format).setMergePolicy(new LogDocMergePolicy()).setInfoStream(messages));
  }

  private static SharedCodebook train(
      float[][] vectors, int subspaces, int version, VectorSimilarityFunction similarity)
      throws IOException {
    int dimension = vectors[0].length;
    TrainingSample sample = TrainingSample.of(dimension, vectors);
    Codebook codebook =
        PqTrainer.train(
            sample,
            new SubspaceLayout(dimension, subspaces),
            CodebookId.random(),
            PqTrainer.Options.defaults(random().nextLong()),
            AbortCheck.NEVER);
    return SharedCodebook.of(
        "shared",
        version,
        codebook,
        similarity,
        sample,
        vectors.length,
        "test",
        Workers.callingThread(),
        AbortCheck.NEVER);
  }

  private static void add(IndexWriter writer, float[][] vectors, int from, int to)
      throws IOException {
    for (int i = from; i < to; i++) {
      writer.addDocument(Segments.document(i, vectors[i], EUCLIDEAN));
    }
    writer.flush();
  }

  private static SegmentField onlyField(DirectoryReader reader) {
    assertEquals(1, reader.leaves().size());
    return Segments.field(reader.leaves().get(0).reader(), Segments.FLOATS);
  }

  /** Every vector of a segment has the code that the codebook gives it. */
  private static void assertCodes(SegmentField field, SharedCodebook shared) throws IOException {
    assertEquals(shared.codebook().id(), field.codebook().id());
    assertArrayEquals(shared.codebook().centroids(), field.codebook().centroids(), 0f);
    int length = shared.subspaces();
    byte[] found = new byte[length];
    byte[] expected = new byte[length];
    IndexInput codes = field.codesRegion().open();
    FloatVectorValues vectors = (FloatVectorValues) field.vectors();
    for (int ordinal = 0; ordinal < field.size(); ordinal++) {
      codes.readBytes(found, 0, length);
      shared.codebook().encode(vectors.vectorValue(ordinal), expected, 0);
      assertArrayEquals("vector " + ordinal, expected, found);
    }
  }

  private void expectLine(String start) {
    List<String> lines = messages.take();
    assertTrue(
        "no \"" + start + "\" in " + lines,
        lines.stream().anyMatch(line -> line.startsWith(start)));
  }

  public void testFlushesUseItAndMergesCopyCodes() throws IOException {
    float[][] vectors = Segments.clustered(random(), 700, DIMENSION);
    // other subspaces than the parameters ask for: the codebook's subspaces count
    ready.set(train(vectors, 6, 3, EUCLIDEAN));
    try (Directory directory = newDirectory();
        IndexWriter writer = writer(directory)) {
      add(writer, vectors, 0, 300);
      expectLine("quantized floats: codebook shared version 3, 0 codes copied, 300 encoded, ");
      add(writer, vectors, 300, 700);
      expectLine("quantized floats: codebook shared version 3, 0 codes copied, 400 encoded, ");
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        assertEquals(2, reader.leaves().size());
        for (var leaf : reader.leaves()) {
          assertCodes(Segments.field(leaf.reader(), Segments.FLOATS), ready.get());
        }
      }
      writer.deleteDocuments(new Term(Segments.ID, "5"));
      writer.forceMerge(1);
      expectLine("quantized floats: codebook shared version 3, 699 codes copied, 0 encoded, ");
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        assertCodes(onlyField(reader), ready.get());
      }
      BuildStatistics.Snapshot counted = statistics.snapshot();
      assertEquals(3, counted.codebooksShared());
      assertEquals(0, counted.codebooksKept() + counted.codebooksTrained());
      assertEquals(3, counted.quantizations());
      assertEquals(700, counted.codesEncoded());
      assertEquals(699, counted.codesCopied());
      assertEquals(3, counted.graphs());
      assertEquals(1399, counted.nodesInserted() + counted.nodesReused());
      // nodes whose neighbour was deleted are reused, too
      assertEquals(400, counted.nodesReused(), 1);
      assertTrue(counted.toString(), counted.graphNanos() > 0 && counted.quantizationNanos() > 0);
      assertEquals(0, counted.aborted() + counted.failed());
    }
  }

  public void testMergesTakeUpANewerVersion() throws IOException {
    float[][] vectors = Segments.clustered(random(), 600, DIMENSION);
    SharedCodebook first = train(Arrays.copyOf(vectors, 300), 4, 1, EUCLIDEAN);
    SharedCodebook second = train(vectors, 4, 2, EUCLIDEAN);
    try (Directory directory = newDirectory();
        IndexWriter writer = writer(directory)) {
      ready.set(first);
      add(writer, vectors, 0, 400);
      ready.set(second);
      add(writer, vectors, 400, 600);
      messages.take();
      writer.forceMerge(1);
      expectLine("quantized floats: codebook shared version 2, 200 codes copied, 400 encoded, ");
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        assertCodes(onlyField(reader), second);
        SegmentFacts facts = facts(reader).get(0);
        assertEquals("shared", facts.codebook());
        assertEquals(2, facts.codebookVersion());
      }
      assertEquals(3, statistics.snapshot().codebooksShared());
    }
  }

  public void testNotReadyTrainsAndIsTakenUpLater() throws IOException {
    float[][] vectors = Segments.clustered(random(), 500, DIMENSION);
    try (Directory directory = newDirectory();
        IndexWriter writer = writer(directory)) {
      add(writer, vectors, 0, 300);
      expectLine("quantized floats: codebook trained since codebook shared is not ready, ");
      BuildStatistics.Snapshot counted = statistics.snapshot();
      assertEquals(1, counted.codebooksTrained());
      assertEquals(1, counted.ownNotReady());
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        assertEquals("", facts(reader).get(0).codebook());
      }
      ready.set(train(vectors, 4, 1, EUCLIDEAN));
      add(writer, vectors, 300, 500);
      messages.take();
      writer.forceMerge(1);
      expectLine("quantized floats: codebook shared version 1, 200 codes copied, 300 encoded, ");
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        assertCodes(onlyField(reader), ready.get());
      }
    }
  }

  /** As after a restart, when a node has segments of a codebook before it has the codebook. */
  public void testMergeKeepsTheNewestNamedCodebookWhileNoneIsReady() throws IOException {
    float[][] vectors = Segments.clustered(random(), 600, DIMENSION);
    SharedCodebook second = train(vectors, 6, 2, EUCLIDEAN);
    try (Directory directory = newDirectory();
        IndexWriter writer = writer(directory)) {
      ready.set(train(vectors, 6, 1, EUCLIDEAN));
      add(writer, vectors, 0, 400);
      ready.set(second);
      add(writer, vectors, 400, 500);
      ready.set(null);
      add(writer, vectors, 500, 600);
      messages.take();
      writer.forceMerge(1);
      expectLine(
          "quantized floats: codebook kept since codebook shared is not ready, 100 codes copied,"
              + " 500 encoded, ");
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        assertCodes(onlyField(reader), second);
      }
      BuildStatistics.Snapshot counted = statistics.snapshot();
      assertEquals(2, counted.codebooksShared());
      assertEquals(1, counted.codebooksTrained());
      assertEquals(1, counted.codebooksKept());
      assertEquals(2, counted.ownNotReady());
    }
  }

  public void testCodebooksThatDoNotFit() throws IOException {
    float[][] vectors = Segments.clustered(random(), 300, DIMENSION);
    float[][] wider = Segments.clustered(random(), 300, DIMENSION + 1);
    List<SharedCodebook> unfit =
        List.of(
            train(wider, 4, 1, EUCLIDEAN),
            train(vectors, 4, 1, VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT));
    for (SharedCodebook shared : unfit) {
      ready.set(shared);
      try (Directory directory = newDirectory();
          IndexWriter writer = writer(directory)) {
        add(writer, vectors, 0, 300);
        expectLine(
            "quantized floats: codebook trained since codebook shared "
                + (shared == unfit.get(0)
                    ? "has dimension 13, the field has 12, "
                    : "was trained for MAXIMUM_INNER_PRODUCT, the field has EUCLIDEAN, "));
        try (DirectoryReader reader = DirectoryReader.open(writer)) {
          assertEquals("", onlyField(reader).codebook().id().name());
          assertEquals(4, onlyField(reader).codebook().layout().count());
        }
      }
    }
    BuildStatistics.Snapshot counted = statistics.snapshot();
    assertEquals(2, counted.ownDoesNotFit());
    assertEquals(2, counted.codebooksTrained());
    assertEquals(0, counted.codebooksShared());
  }

  public void testBytesNeverUseOne() throws IOException {
    float[][] vectors = Segments.clustered(random(), 200, DIMENSION);
    ready.set(train(vectors, 4, 1, EUCLIDEAN));
    CodebookProvider codebooks =
        CodebookProvider.of(Map.of(Segments.BYTES, "shared"), name -> ready.get());
    try (Directory directory = newDirectory();
        IndexWriter writer = writer(directory, codebooks)) {
      for (int i = 0; i < vectors.length; i++) {
        writer.addDocument(Segments.document(i, vectors[i]));
      }
      writer.flush();
      BuildStatistics.Snapshot counted = statistics.snapshot();
      assertEquals(1, counted.ownDoesNotFit());
      assertEquals(1, counted.ownNoneNamed());
      assertEquals(2, counted.codebooksTrained());
    }
  }

  /** COSINE fields are encoded as vectors of unit length, and may use a DOT_PRODUCT codebook. */
  public void testCosineUsesUnitVectors() throws IOException {
    float[][] vectors = Segments.clustered(random(), 300, DIMENSION);
    float[][] units = new float[vectors.length][];
    for (int i = 0; i < units.length; i++) {
      units[i] = VectorUtil.l2normalize(vectors[i].clone());
    }
    ready.set(train(units, 4, 1, VectorSimilarityFunction.DOT_PRODUCT));
    try (Directory directory = newDirectory();
        IndexWriter writer = writer(directory)) {
      for (int i = 0; i < vectors.length; i++) {
        writer.addDocument(Segments.document(i, vectors[i], VectorSimilarityFunction.COSINE));
      }
      writer.flush();
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        SegmentField field = onlyField(reader);
        assertEquals(ready.get().codebook().id(), field.codebook().id());
        IndexInput codes = field.codesRegion().open();
        byte[] found = new byte[4];
        byte[] expected = new byte[4];
        int same = 0;
        for (float[] unit : units) {
          codes.readBytes(found, 0, 4);
          ready.get().codebook().encode(unit, expected, 0);
          same += Arrays.equals(found, expected) ? 1 : 0;
        }
        // two ways to scale a vector may differ in the last bit
        assertTrue(same + " of " + units.length, same >= 0.98 * units.length);
      }
    }
  }

  public void testSegmentFacts() throws IOException {
    float[][] vectors = Segments.clustered(random(), 150, DIMENSION);
    ready.set(train(vectors, 6, 7, EUCLIDEAN));
    try (Directory directory = newDirectory();
        IndexWriter writer = writer(directory)) {
      for (int i = 0; i < vectors.length; i++) {
        writer.addDocument(Segments.document(i, vectors[i]));
      }
      writer.flush();
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        List<SegmentFacts> facts = new ArrayList<>(facts(reader));
        facts.sort((a, b) -> a.field().compareTo(b.field()));
        assertEquals(2, facts.size());
        SegmentFacts bytes = facts.get(0);
        assertEquals(Segments.BYTES, bytes.field());
        assertEquals("", bytes.codebook());
        assertEquals(1, bytes.codebookVersion());
        assertEquals(150L * DIMENSION, bytes.vectorBytes());
        assertEquals(150L * 4, bytes.codeBytes());
        SegmentFacts floats = facts.get(1);
        assertEquals(Segments.FLOATS, floats.field());
        assertEquals(150, floats.vectors());
        assertEquals(DIMENSION, floats.dimension());
        assertEquals(16, floats.maxDegree());
        assertEquals(150L * DIMENSION * 4, floats.vectorBytes());
        assertEquals(150L * 16 * 4, floats.graphBytes());
        assertEquals(150L * 6, floats.codeBytes());
        assertEquals(256L * DIMENSION * 4, floats.codebookBytes());
        assertEquals("shared", floats.codebook());
        assertEquals(7, floats.codebookVersion());
        assertSame(onlyField(reader), floats.view());
      }
    }
  }

  private static List<SegmentFacts> facts(DirectoryReader reader) {
    assertEquals(1, reader.leaves().size());
    return SegmentFacts.of((CodecReader) FilterLeafReader.unwrap(reader.leaves().get(0).reader()));
  }
}
