package dev.vamana.codec;

import dev.vamana.ivf.CodeKind;
import dev.vamana.pq.Codebook;
import dev.vamana.search.VamanaSearchStrategy;
import dev.vamana.search.WalkParameters;
import dev.vamana.tools.fixture.CodebookFixture;
import dev.vamana.tools.fixture.FixtureIndex;
import dev.vamana.tools.fixture.ListFixture;
import dev.vamana.tools.fixture.QuantizedListFixture;
import dev.vamana.tools.fixture.SignFixture;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import org.apache.lucene.document.Document;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnByteVectorQuery;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.knn.KnnSearchStrategy;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;

/** Indexes of every released version of the format are read, searched and merged. */
// these tests copy and damage all files of an index, so there must be no others
@LuceneTestCase.SuppressFileSystems("ExtrasFS")
public class FixtureTests extends LuceneTestCase {

  private static final int K = 10;
  private static final List<Integer> GRAPH_VERSIONS =
      List.of(
          VamanaVectorsFormat.VERSION_START,
          VamanaVectorsFormat.VERSION_SIGNS,
          VamanaVectorsFormat.VERSION_SCALARS);
  private static final List<Integer> LIST_VERSIONS =
      List.of(VamanaVectorsFormat.VERSION_LISTS, VamanaVectorsFormat.VERSION_QUANTIZED_LISTS);
  private static final VamanaParameters GRAPHS =
      VamanaParameters.DEFAULT.withThresholds(SignFixture.SIZE, Integer.MAX_VALUE);

  /**
   * Fails when the version is raised without a fixture of it; docs/internals/file-format.md says
   * how.
   */
  public void testEveryVersionHasAFixture() {
    for (int version : GRAPH_VERSIONS) {
      List<String> fixtures = new ArrayList<>(List.of(fixture(version), codebookFixture(version)));
      if (version == VamanaVectorsFormat.VERSION_SIGNS) {
        fixtures.add(signFixture(version));
      }
      if (version >= VamanaVectorsFormat.VERSION_SCALARS) {
        fixtures.add(scalarFixture(version));
      }
      for (String fixture : fixtures) {
        assertNotNull("no " + fixture, FixtureTests.class.getResource(fixture));
      }
    }
    for (int version : LIST_VERSIONS) {
      String fixture = listFixture(version);
      assertNotNull("no " + fixture, FixtureTests.class.getResource(fixture));
    }
    assertEquals(
        "graphs and lists of the versions have the kinds of codes that the tests expect",
        VamanaVectorsFormat.VERSION_CURRENT,
        VamanaVectorsFormat.VERSION_SCALARS);
  }

  /** Segments with lists have versions of their own. */
  public void testListsAreReadAndTheirCodesCopied() throws IOException {
    for (int version : LIST_VERSIONS) {
      boolean quantized = version >= VamanaVectorsFormat.VERSION_QUANTIZED_LISTS;
      CodeKind kind = quantized ? QuantizedListFixture.KIND : ListFixture.KIND;
      try (Directory directory = open(listFixture(version))) {
        TestUtil.checkIndex(directory);
        checkLists(directory, kind);
        BuildStatistics statistics = new BuildStatistics();
        try (IndexWriter writer =
            new IndexWriter(
                directory,
                Segments.config(
                        quantized
                            ? QuantizedListFixture.format(statistics)
                            : ListFixture.format(statistics))
                    .setMergePolicy(new LogDocMergePolicy()))) {
          writer.addDocument(new Document());
          writer.forceMerge(1);
        }
        assertEquals(ListFixture.SIZE, statistics.snapshot().listCodesCopied());
        assertEquals(0, statistics.snapshot().listCodesEncoded());
        checkLists(directory, kind);
      }
    }
  }

  private static void checkLists(Directory directory, CodeKind kind) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      SegmentField field = Segments.field(reader.leaves().get(0).reader(), ListFixture.FIELD);
      assertTrue(field.hasLists());
      assertEquals(kind, field.lists().shape().kind());
      IndexSearcher searcher = new IndexSearcher(reader);
      for (int id = 0; id < ListFixture.SIZE; id += 37) {
        float[] vector = ListFixture.vector(id);
        ScoreDoc best =
            searcher.search(new KnnFloatVectorQuery(ListFixture.FIELD, vector, K), K).scoreDocs[0];
        assertEquals(1, best.score, 1e-6f);
      }
    }
  }

  private static String listFixture(int version) {
    return "index-" + VamanaVectorsFormat.NAME + "-" + version + "-lists.zip";
  }

  public void testSharedCodebooksAreReadAndTheirCodesCopied() throws IOException {
    for (int version : GRAPH_VERSIONS) {
      try (Directory directory = open(codebookFixture(version))) {
        TestUtil.checkIndex(directory);
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
          assertEquals(2, reader.leaves().size());
          for (LeafReaderContext leaf : reader.leaves()) {
            checkCodes(leaf, CodebookFixture.SEGMENT);
          }
        }
        BuildStatistics statistics = new BuildStatistics();
        try (IndexWriter writer =
            new IndexWriter(
                directory,
                Segments.config(CodebookFixture.format(statistics))
                    .setMergePolicy(new LogDocMergePolicy()))) {
          writer.forceMerge(1);
        }
        assertEquals(2 * CodebookFixture.SEGMENT, statistics.snapshot().codesCopied());
        assertEquals(0, statistics.snapshot().codesEncoded());
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
          assertEquals(1, reader.leaves().size());
          checkCodes(reader.leaves().get(0), 2 * CodebookFixture.SEGMENT);
        }
      }
    }
  }

  private static void checkCodes(LeafReaderContext leaf, int size) throws IOException {
    SegmentField field = Segments.field(leaf.reader(), CodebookFixture.FIELD);
    Codebook expected = CodebookFixture.codebook().codebook();
    assertEquals(size, field.size());
    assertEquals(expected.id(), field.codebook().id());
    assertEquals(expected.layout(), field.codebook().layout());
    assertArrayEquals(expected.centroids(), field.codebook().centroids(), 0f);
    IndexInput codes = field.codesRegion().open();
    byte[] code = new byte[CodebookFixture.SUBSPACES];
    byte[] right = new byte[CodebookFixture.SUBSPACES];
    for (int doc = 0; doc < size; doc++) {
      codes.readBytes(code, 0, code.length);
      int id = leaf.docBase + doc;
      expected.encode(FixtureIndex.floats(id, VectorSimilarityFunction.EUCLIDEAN), right, 0);
      assertArrayEquals("document " + id, right, code);
    }
  }

  public void testFixturesAreSearched() throws IOException {
    for (int version : GRAPH_VERSIONS) {
      try (Directory directory = open(fixture(version));
          DirectoryReader reader = DirectoryReader.open(directory)) {
        TestUtil.checkIndex(directory);
        checkSegments(reader, version);
        checkHits(reader);
      }
    }
  }

  public void testFixturesAreMerged() throws IOException {
    for (int version : GRAPH_VERSIONS) {
      try (Directory directory = open(fixture(version))) {
        try (IndexWriter writer =
            new IndexWriter(
                directory,
                Segments.config(Segments.SMALL).setMergePolicy(new LogDocMergePolicy()))) {
          writer.forceMerge(1);
        }
        try (DirectoryReader reader = DirectoryReader.open(directory)) {
          assertEquals(1, reader.leaves().size());
          checkHits(reader);
        }
      }
    }
  }

  private static String fixture(int version) {
    return "index-" + VamanaVectorsFormat.NAME + "-" + version + ".zip";
  }

  private static String codebookFixture(int version) {
    return "index-" + VamanaVectorsFormat.NAME + "-" + version + "-codebook.zip";
  }

  private static String signFixture(int version) {
    return "index-" + VamanaVectorsFormat.NAME + "-" + version + "-signs.zip";
  }

  private static String scalarFixture(int version) {
    return "index-" + VamanaVectorsFormat.NAME + "-" + version + "-scalars.zip";
  }

  /** Sign codes are no longer used; a merge writes scalar codes. */
  public void testSegmentsWithSignCodesAreReadAndMerged() throws IOException {
    try (Directory directory = open(signFixture(VamanaVectorsFormat.VERSION_SIGNS))) {
      TestUtil.checkIndex(directory);
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        SegmentField field = Segments.field(getOnlyLeafReader(reader), SignFixture.FIELD);
        assertTrue(field.hasGraph());
        assertNull(field.distanceFilter(SignFixture.vector(0)));
        ScoreDoc[] hits =
            new IndexSearcher(reader)
                .search(new KnnFloatVectorQuery(SignFixture.FIELD, SignFixture.vector(7), K), K)
                .scoreDocs;
        assertEquals(K, hits.length);
        assertEquals(7, hits[0].doc);
      }
      merge(directory);
      checkScalars(directory, SignFixture.FIELD, SignFixture.vector(0));
    }
  }

  public void testScalarCodesAreReadAndMerged() throws IOException {
    try (Directory directory = open(scalarFixture(VamanaVectorsFormat.VERSION_SCALARS))) {
      TestUtil.checkIndex(directory);
      checkScalars(directory, SignFixture.FIELD, SignFixture.vector(0));
      merge(directory);
      checkScalars(directory, SignFixture.FIELD, SignFixture.vector(0));
    }
  }

  private static void merge(Directory directory) throws IOException {
    try (IndexWriter writer =
        new IndexWriter(
            directory,
            Segments.config(new VamanaVectorsFormat(GRAPHS, Workers.callingThread()))
                .setMergePolicy(new LogDocMergePolicy()))) {
      writer.addDocument(new Document());
      writer.forceMerge(1);
    }
  }

  private static void checkScalars(Directory directory, String name, float[] query)
      throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(directory)) {
      assertEquals(1, reader.leaves().size());
      SegmentField field = Segments.field(reader.leaves().get(0).reader(), name);
      assertNotNull(field.scalarCodes());
      checkFilter(field, query);
    }
  }

  /** All that is far is left out, and nothing that is near. */
  private static void checkFilter(SegmentField field, float[] query) throws IOException {
    int[] ordinals = IntStream.range(0, field.size()).toArray();
    int[] leftOut = new int[field.size()];
    float far = 1 / (1 + 1e-3f);
    int kept = field.distanceFilter(query).keep(ordinals, field.size(), leftOut, 0, far);
    assertEquals(0, ordinals[0]);
    assertTrue("kept " + kept, kept < field.size() / 2);
    float near = 1 / (1 + 1e9f);
    ordinals = IntStream.range(0, field.size()).toArray();
    kept = field.distanceFilter(query).keep(ordinals, field.size(), leftOut, 0, near);
    assertEquals(field.size(), kept);
  }

  private static Directory open(String fixture) throws IOException {
    Directory directory = newDirectory();
    try (InputStream in = FixtureTests.class.getResourceAsStream(fixture);
        ZipInputStream zip = new ZipInputStream(in)) {
      ZipEntry entry;
      while ((entry = zip.getNextEntry()) != null) {
        byte[] content = zip.readAllBytes();
        try (IndexOutput out = directory.createOutput(entry.getName(), IOContext.DEFAULT)) {
          out.writeBytes(content, content.length);
        }
      }
    }
    directory.sync(List.of(directory.listAll()));
    return directory;
  }

  private static void checkSegments(DirectoryReader reader, int version) throws IOException {
    assertEquals(2, reader.leaves().size());
    for (LeafReaderContext context : reader.leaves()) {
      LeafReader leaf = context.reader();
      boolean large = context.ord == 0;
      assertEquals(large ? FixtureIndex.LARGE_SEGMENT : FixtureIndex.SMALL_SEGMENT, leaf.maxDoc());
      for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
        for (VectorEncoding encoding : VectorEncoding.values()) {
          SegmentField field = Segments.field(leaf, FixtureIndex.field(encoding, similarity));
          assertEquals("version " + version, large, field.hasGraph());
          assertEquals(large, field.codebook() != null);
          if (large) {
            assertEquals(FixtureIndex.MAX_DEGREE, field.maxDegree());
            assertEquals(FixtureIndex.SUBSPACES, field.codebook().layout().count());
          }
        }
        FloatVectorValues floats =
            leaf.getFloatVectorValues(FixtureIndex.field(VectorEncoding.FLOAT32, similarity));
        ByteVectorValues bytes =
            leaf.getByteVectorValues(FixtureIndex.field(VectorEncoding.BYTE, similarity));
        for (int doc = 0; doc < leaf.maxDoc(); doc++) {
          int id = context.docBase + doc;
          assertArrayEquals(FixtureIndex.floats(id, similarity), floats.vectorValue(doc), 0f);
          assertArrayEquals(FixtureIndex.bytes(id), bytes.vectorValue(doc));
        }
      }
    }
  }

  /** The nearest neighbours follow from the formulas; walks of a wide beam find nearly all. */
  private static void checkHits(DirectoryReader reader) throws IOException {
    IndexSearcher searcher = new IndexSearcher(reader);
    int found = 0;
    int wanted = 0;
    for (VectorSimilarityFunction similarity : VectorSimilarityFunction.values()) {
      for (VectorEncoding encoding : VectorEncoding.values()) {
        for (int query = 0; query < 140; query += 23) {
          float worst = tenthScore(encoding, similarity, query);
          for (WalkParameters walk :
              List.of(WalkParameters.exact(60), WalkParameters.quantized(60, 60))) {
            ScoreDoc[] hits =
                searcher.search(query(encoding, similarity, query, walk), K).scoreDocs;
            assertEquals(K, hits.length);
            for (ScoreDoc hit : hits) {
              int id =
                  Integer.parseInt(searcher.storedFields().document(hit.doc).get(FixtureIndex.ID));
              float score = score(encoding, similarity, query, id);
              assertEquals(score, hit.score, Math.abs(score) * 1e-4f);
              assertNotEquals(FixtureIndex.DELETED, id);
              wanted++;
              found += score >= worst ? 1 : 0;
            }
          }
        }
      }
    }
    assertTrue(found + " of " + wanted, found >= 0.95 * wanted);
  }

  private static Query query(
      VectorEncoding encoding, VectorSimilarityFunction similarity, int id, WalkParameters walk) {
    String field = FixtureIndex.field(encoding, similarity);
    KnnSearchStrategy strategy = new VamanaSearchStrategy(walk);
    return encoding == VectorEncoding.BYTE
        ? new KnnByteVectorQuery(field, FixtureIndex.bytes(id), K, null, strategy)
        : new KnnFloatVectorQuery(field, FixtureIndex.floats(id, similarity), K, null, strategy);
  }

  private static float score(
      VectorEncoding encoding, VectorSimilarityFunction similarity, int query, int id) {
    return encoding == VectorEncoding.BYTE
        ? similarity.compare(FixtureIndex.bytes(query), FixtureIndex.bytes(id))
        : similarity.compare(
            FixtureIndex.floats(query, similarity), FixtureIndex.floats(id, similarity));
  }

  private static float tenthScore(
      VectorEncoding encoding, VectorSimilarityFunction similarity, int query) {
    List<Float> scores = new ArrayList<>();
    for (int id = 0; id < FixtureIndex.LARGE_SEGMENT + FixtureIndex.SMALL_SEGMENT; id++) {
      if (id != FixtureIndex.DELETED) {
        scores.add(score(encoding, similarity, query, id));
      }
    }
    scores.sort(Comparator.reverseOrder());
    return scores.get(K - 1);
  }
}
