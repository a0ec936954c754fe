package dev.vamana.search;

import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.ivf.CodeKind;
import dev.vamana.vectors.FileRegion;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.IntPredicate;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntField;
import org.apache.lucene.document.LongField;
import org.apache.lucene.document.SortedDocValuesField;
import org.apache.lucene.document.SortedSetDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.ConstantScoreQuery;
import org.apache.lucene.search.FloatVectorSimilarityQuery;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.TermInSetQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.Weight;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.IOUtils;
import org.junit.AfterClass;
import org.junit.BeforeClass;

/** Searches with filters by the values of a field that is known when segments are merged. */
public class LabelSearchTests extends SearchTestCase {

  private static final String LABEL = "label";
  private static final int SIZE = 28_000;
  private static final int DIMENSION = 12;
  // vectors of the same 12 components again and again: as near as those, and slower to scan
  private static final int REPEATS = 8;
  private static final int K = 20;
  private static final int QUERIES = 12;

  /** The doc values of the field. */
  private enum Kind {
    SORTED,
    SORTED_SET,
    NUMBERS
  }

  private static final List<List<Integer>> LABELS = new ArrayList<>();
  private static Kind kind;
  private static TestVectors vectors;
  private static List<Integer> shuffled;
  private static ByteBuffersDirectory merged;

  private final Set<Integer> deleted = new HashSet<>();
  private Directory directory;
  private DirectoryReader reader;
  private IndexSearcher searcher;

  @BeforeClass
  public static void makeIndex() throws IOException {
    kind = Kind.values()[random().nextInt(Kind.values().length)];
    TestVectors seeds =
        TestVectors.clustered(
            random(), VectorEncoding.FLOAT32, randomSimilarity(), SIZE, DIMENSION);
    vectors =
        new TestVectors(
            seeds.similarity(), seeds.base().stream().map(LabelSearchTests::repeated).toList());
    shuffled = permutation(SIZE, random());
    for (int id = 0; id < SIZE; id++) {
      LABELS.add(labels(random().nextInt(1_000)));
    }
    merged = new ByteBuffersDirectory();
    write(merged, SIZE, format(LABEL, IndexType.GRAPH), true);
  }

  @AfterClass
  public static void dropIndex() throws IOException {
    IOUtils.close(merged);
    LABELS.clear();
    vectors = null;
    shuffled = null;
    merged = null;
  }

  private static QueryVector repeated(QueryVector vector) {
    float[] components = new float[DIMENSION * REPEATS];
    for (int i = 0; i < components.length; i++) {
      components[i] = vector.floats()[i % DIMENSION] / (float) Math.sqrt(REPEATS);
    }
    return QueryVector.of(components);
  }

  /** Half of the documents have 0 or 1; few have 9, and many values are rare. */
  private static List<Integer> labels(int draw) {
    if (draw < 500) {
      return List.of(draw % 2);
    }
    if (draw < 550) {
      return kind == Kind.SORTED ? List.of(2) : List.of(2, 3);
    }
    if (draw < 600) {
      return List.of();
    }
    return List.of(draw < 607 ? 9 : 10 + random().nextInt(200));
  }

  @Override
  public void tearDown() throws Exception {
    IOUtils.close(reader, directory);
    super.tearDown();
  }

  /** Many edges in the graph of all vectors, so that walks of two values' graphs cost less. */
  private static KnnVectorsFormat format(String filterField, IndexType type) {
    return new VamanaVectorsFormat(
        VamanaParameters.DEFAULT
            .withGraph(64, 64, 2f)
            .withThresholds(100, Integer.MAX_VALUE)
            .withType(type, CodeKind.DEFAULT)
            .withFilterField(filterField),
        new Workers(Runnable::run, 1 + random().nextInt(3)));
  }

  private static Document document(int id) {
    Document document = document(vectors, id, shuffled.get(id));
    for (int label : LABELS.get(id)) {
      BytesRef term = new BytesRef(Integer.toString(label));
      switch (kind) {
        case NUMBERS -> document.add(new LongField(LABEL, label, Field.Store.NO));
        case SORTED -> document.add(new SortedDocValuesField(LABEL, term));
        case SORTED_SET -> document.add(new SortedSetDocValuesField(LABEL, term));
      }
      if (kind != Kind.NUMBERS) {
        document.add(new StringField(LABEL, term, Field.Store.NO));
      }
    }
    return document;
  }

  /** Opens a copy of the merged segment. */
  private void copy() throws IOException {
    directory = directory();
    for (String file : merged.listAll()) {
      directory.copyFrom(merged, file, file, IOContext.DEFAULT);
    }
    // the tests' directories damage files that are not synced
    directory.sync(Arrays.asList(merged.listAll()));
    open();
  }

  /** Opens an index of some documents in two segments, or merged. */
  private void index(int size, KnnVectorsFormat format, boolean merge) throws IOException {
    directory = directory();
    write(directory, size, format, merge);
    open();
  }

  private static void write(Directory target, int size, KnnVectorsFormat format, boolean merge)
      throws IOException {
    try (IndexWriter writer =
        new IndexWriter(target, config(format).setMergePolicy(new LogDocMergePolicy()))) {
      for (int id = 0; id < size; id++) {
        writer.addDocument(document(id));
        if (id == size / 3) {
          writer.flush();
        }
      }
      if (merge) {
        writer.forceMerge(1);
      }
    }
  }

  private void open() throws IOException {
    IOUtils.close(reader);
    reader = DirectoryReader.open(directory);
    searcher = new IndexSearcher(reader);
    searcher.setQueryCache(null);
  }

  private void delete(int percent, boolean merge) throws IOException {
    try (IndexWriter writer =
        new IndexWriter(
            directory,
            config(format(LABEL, IndexType.GRAPH)).setMergePolicy(new LogDocMergePolicy()))) {
      for (int id = 0; id < SIZE; id++) {
        if (random().nextInt(100) < percent) {
          deleted.add(id);
          writer.deleteDocuments(IntField.newExactQuery(ID, id));
        }
      }
      if (merge) {
        writer.forceMergeDeletes();
        writer.forceMerge(1);
      }
    }
    open();
  }

  private Query filter(int... values) {
    return kind == Kind.NUMBERS
        ? LongField.newSetQuery(LABEL, Arrays.stream(values).asLongStream().toArray())
        : new TermInSetQuery(
            LABEL,
            Arrays.stream(values)
                .mapToObj(value -> new BytesRef(Integer.toString(value)))
                .toList());
  }

  private IntPredicate accepted(int... values) {
    return id ->
        deleted.contains(id) == false
            && Arrays.stream(values).anyMatch(value -> LABELS.get(id).contains(value));
  }

  private static Query knn(QueryVector query, Query filter) {
    return new KnnFloatVectorQuery(FIELD, query.floats(), K, filter);
  }

  private void assertFinds(Query filter, IntPredicate accepted) throws IOException {
    double recall = 0;
    for (int i = 0; i < QUERIES; i++) {
      QueryVector query = vectors.get(random().nextInt(SIZE));
      TopDocs hits = searcher.search(knn(query, filter), K);
      int[] ids = ids(searcher, hits);
      assertWellFormed(vectors, query, hits, ids, accepted);
      recall += vectors.recall(query, K, accepted, ids) / QUERIES;
    }
    assertTrue("recall " + recall + " " + vectors.similarity() + " " + kind, recall >= 0.85);
  }

  /** The graphs that a search with a filter walks, or null if it uses the segment's. */
  private LabelGraphs.Plan plan(Query filter) throws IOException {
    LeafReaderContext leaf = reader.leaves().get(0);
    SegmentView view = view(leaf.reader());
    Weight weight =
        searcher.createWeight(
            searcher.rewrite(new ConstantScoreQuery(filter)), ScoreMode.COMPLETE_NO_SCORES, 1);
    AcceptDocs docs =
        AcceptDocs.fromIteratorSupplier(
            () -> {
              Scorer scorer = weight.scorer(leaf);
              return scorer.iterator();
            },
            leaf.reader().getLiveDocs(),
            leaf.reader().maxDoc());
    double most = SearchPlan.mostOfLabels(view, K, docs.cost());
    return view.labels().plan(view, docs.bits(), K, most);
  }

  private int graphs(int... values) throws IOException {
    return plan(filter(values)).graphs().length;
  }

  public void testValues() throws IOException {
    copy();
    assertEquals(1, graphs(0));
    assertEquals(1, graphs(1));
    assertFinds(filter(0), accepted(0));
    assertFinds(filter(1), accepted(1));
    assertFinds(filter(2), accepted(2));
    assertFinds(filter(10), accepted(10));
  }

  public void testLists() throws IOException {
    index(SIZE, format(LABEL, IndexType.IVF), true);
    assertEquals(1, graphs(0));
    assertFinds(filter(0), accepted(0));
    assertFinds(filter(10), accepted(10));
  }

  public void testUnions() throws IOException {
    copy();
    LabelGraphs.Plan plan = plan(filter(0, 9, 10));
    assertEquals(2, plan.graphs().length);
    assertEquals(LABELS.stream().filter(List.of(10)::equals).count(), plan.alone().length);
    assertFinds(filter(0, 9, 10), accepted(0, 9, 10));
    assertFinds(filter(0, 1, 2, 10, 11, 12), accepted(0, 1, 2, 10, 11, 12));
  }

  public void testDeletions() throws IOException {
    copy();
    delete(10, false);
    assertEquals(2, graphs(0, 9));
    assertFinds(filter(0), accepted(0));
    assertFinds(filter(0, 9, 10), accepted(0, 9, 10));
    delete(5, true);
    assertEquals(1, reader.leaves().size());
    assertFalse(reader.hasDeletions());
    assertEquals(1, graphs(1));
    assertFinds(filter(0, 1), accepted(0, 1));
  }

  /** A part of a value's documents lies in its graph as well. */
  public void testPartOfValue() throws IOException {
    copy();
    int limit = SIZE * 9 / 10;
    Query part =
        new BooleanQuery.Builder()
            .add(filter(0), BooleanClause.Occur.FILTER)
            .add(IntField.newRangeQuery(SHUFFLED, 0, limit - 1), BooleanClause.Occur.FILTER)
            .build();
    assertNotNull(plan(part));
    assertFinds(part, id -> accepted(0).test(id) && shuffled.get(id) < limit);
  }

  public void testOtherFiltersUseTheGraphOfAll() throws IOException {
    copy();
    for (int share : new int[] {2, 3, 50}) {
      int limit = SIZE / share;
      Query other = IntField.newRangeQuery(SHUFFLED, 0, limit - 1);
      assertNull(plan(other));
      assertFinds(other, id -> shuffled.get(id) < limit);
    }
  }

  public void testThresholds() throws IOException {
    copy();
    QueryVector query = vectors.get(random().nextInt(SIZE));
    int[] best = vectors.exact(query, K, accepted(0));
    float least = vectors.score(query, best[K - 1]);
    Query hits = new FloatVectorSimilarityQuery(FIELD, query.floats(), least, filter(0));
    TopDocs found = searcher.search(hits, SIZE);
    int[] ids = ids(searcher, found);
    assertWellFormed(vectors, query, found, ids, accepted(0));
    assertTrue("found " + ids.length, ids.length >= K * 0.7);
  }

  /** A flush does not know the values, and neither does a merge without the field. */
  public void testSegmentsWithoutGraphsOfValues() throws IOException {
    index(SIZE / 4, format(LABEL, IndexType.GRAPH), false);
    assertTrue(reader.leaves().size() > 1);
    for (LeafReaderContext leaf : reader.leaves()) {
      assertNull(view(leaf.reader()).labels());
    }
    // ID is another value in each document
    for (String field : List.of("no such field", FIELD, ID)) {
      IOUtils.close(reader, directory);
      reader = null;
      index(SIZE / 8, format(field, IndexType.GRAPH), true);
      assertNull(view(getOnlyLeafReader(reader)).labels());
    }
  }

  /** Damaged graphs end in an error or in hits that are accepted. */
  public void testDamage() throws IOException {
    String file =
        Arrays.stream(merged.listAll())
            .filter(name -> name.endsWith(".vex") || name.endsWith(".cfs"))
            .findFirst()
            .orElseThrow();
    byte[] content;
    try (IndexInput in = merged.openInput(file, IOContext.READONCE)) {
      content = new byte[(int) in.length()];
      in.readBytes(content, 0, content.length);
    }
    for (int round = 0; round < 8; round++) {
      byte[] damaged = content.clone();
      // the graphs of values are the last in their file
      int end = content.length - 200;
      int from = end - random().nextInt(SIZE * 20);
      for (int i = from; i < end; i++) {
        damaged[i] = (byte) (round % 2 == 0 ? random().nextInt(256) : round & 2);
      }
      directory = new ByteBuffersDirectory();
      for (String name : merged.listAll()) {
        if (name.equals(file) == false) {
          directory.copyFrom(merged, name, name, IOContext.DEFAULT);
        }
      }
      try (IndexOutput out = directory.createOutput(file, IOContext.DEFAULT)) {
        out.writeBytes(damaged, damaged.length);
      }
      open();
      for (int i = 0; i < QUERIES; i++) {
        QueryVector query = vectors.get(random().nextInt(SIZE));
        try {
          TopDocs hits = searcher.search(knn(query, filter(i % 3)), K);
          assertWellFormed(vectors, query, hits, ids(searcher, hits), accepted(i % 3));
        } catch (CorruptIndexException e) {
          assertTrue(e.getMessage(), e.getMessage().contains(FileRegion.class.getSimpleName()));
        }
      }
      IOUtils.close(reader, directory);
      reader = null;
      directory = null;
    }
  }
}
