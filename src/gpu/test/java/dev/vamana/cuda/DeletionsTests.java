package dev.vamana.cuda;

import com.carrotsearch.randomizedtesting.generators.RandomPicks;
import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.driver.SimulatedDriver;
import dev.vamana.cuda.memory.MemoryLimit;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.ivf.CodeKind;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.TreeMap;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnByteVectorField;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.NumericDocValuesField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.LogDocMergePolicy;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SoftDeletesDirectoryReaderWrapper;
import org.apache.lucene.index.SoftDeletesRetentionMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnByteVectorQuery;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.search.join.BitSetProducer;
import org.apache.lucene.search.join.DiversifyingChildrenByteKnnVectorQuery;
import org.apache.lucene.search.join.DiversifyingChildrenFloatKnnVectorQuery;
import org.apache.lucene.search.join.QueryBitSetProducer;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.tests.util.TestUtil;

/**
 * Queries for documents and for their parents, of which many are deleted, or are marked as deleted
 * and survive merges. There are always as many hits as were asked for or are left, and they are the
 * nearest.
 */
public class DeletionsTests extends GpuTestCase {

  private static final int PARENTS = 300;
  private static final int CHILDREN = 4;
  private static final int DIMENSION = 12;
  private static final int QUERIES = 6;
  private static final String DELETED = "deleted";
  private static final BitSetProducer PARENT_DOCS =
      new QueryBitSetProducer(new TermQuery(new Term("type", "parent")));

  private final QueryVector[] vectors = new QueryVector[PARENTS * CHILDREN];
  private boolean bytes;

  private QueryVector vector() {
    float[] floats = new float[DIMENSION];
    byte[] rounded = new byte[DIMENSION];
    for (int d = 0; d < DIMENSION; d++) {
      floats[d] = (float) random().nextGaussian();
      rounded[d] = (byte) Math.round(Math.max(-3, Math.min(3, floats[d])) * 40);
    }
    return bytes ? QueryVector.of(rounded) : QueryVector.of(floats);
  }

  private float score(QueryVector query, int id) {
    VectorSimilarityFunction similarity = VectorSimilarityFunction.EUCLIDEAN;
    return bytes
        ? similarity.compare(query.bytes(), vectors[id].bytes())
        : similarity.compare(query.floats(), vectors[id].floats());
  }

  private void addBlock(IndexWriter writer, int parent) throws IOException {
    List<Document> block = new ArrayList<>();
    for (int child = 0; child <= CHILDREN; child++) {
      Document document = new Document();
      document.add(new StringField("block", "" + parent, Field.Store.NO));
      if (child < CHILDREN) {
        int id = parent * CHILDREN + child;
        vectors[id] = vector();
        document.add(
            bytes
                ? new KnnByteVectorField(
                    FIELD, vectors[id].bytes(), VectorSimilarityFunction.EUCLIDEAN)
                : new KnnFloatVectorField(
                    FIELD, vectors[id].floats(), VectorSimilarityFunction.EUCLIDEAN));
        document.add(new StringField("id", "" + id, Field.Store.YES));
      } else {
        document.add(new StringField("type", "parent", Field.Store.NO));
      }
      block.add(document);
    }
    writer.addDocuments(block);
  }

  private Query query(QueryVector query, int k, boolean nested) {
    float[] floats = query.floats();
    if (bytes) {
      return nested
          ? new DiversifyingChildrenByteKnnVectorQuery(FIELD, query.bytes(), null, k, PARENT_DOCS)
          : new KnnByteVectorQuery(FIELD, query.bytes(), k);
    }
    return nested
        ? new DiversifyingChildrenFloatKnnVectorQuery(FIELD, floats, null, k, PARENT_DOCS)
        : new KnnFloatVectorQuery(FIELD, floats, k);
  }

  /** Share of the nearest that are among the hits, of which there must be as many as can be. */
  private double recall(IndexSearcher searcher, List<Integer> live, int k, boolean nested)
      throws IOException {
    QueryVector query = vector();
    // by parent or child, its best score
    TreeMap<Integer, Float> best = new TreeMap<>();
    for (int parent : live) {
      for (int id = parent * CHILDREN; id < (parent + 1) * CHILDREN; id++) {
        best.merge(nested ? parent : id, score(query, id), Math::max);
      }
    }
    ScoreDoc[] hits = searcher.search(query(query, k, nested), k).scoreDocs;
    int expected = Math.min(k, best.size());
    assertEquals("k " + k + (nested ? ", parents" : ""), expected, hits.length);
    float last =
        best.values().stream()
            .sorted(Collections.reverseOrder())
            .skip(expected - 1)
            .findFirst()
            .get();
    int found = 0;
    for (ScoreDoc hit : hits) {
      int id = Integer.parseInt(searcher.storedFields().document(hit.doc).get("id"));
      assertEquals(score(query, id), hit.score, 1e-4f * hit.score);
      Float removed = best.remove(nested ? id / CHILDREN : id);
      assertNotNull("deleted, or found twice: " + id, removed);
      found += hit.score >= last * (1 - 1e-5f) ? 1 : 0;
    }
    return found / (double) expected;
  }

  private void search(DirectoryReader reader, List<Integer> live) throws IOException {
    IndexSearcher searcher = new IndexSearcher(reader);
    // few are scanned
    double least = live.size() <= PARENTS / 20 ? 0.9999 : 0.7;
    for (boolean nested : new boolean[] {false, true}) {
      for (int k : new int[] {5, 70}) {
        double recall = 0;
        for (int i = 0; i < QUERIES; i++) {
          recall += recall(searcher, live, k, nested) / QUERIES;
        }
        String search = live.size() + " live, k " + k + (nested ? ", nested" : "");
        assertTrue(search + ": recall " + recall, recall >= least);
      }
    }
  }

  /** Deletes this many of a hundred documents. */
  private void search(IndexType type, int deleted, boolean soft) throws Exception {
    VamanaParameters parameters =
        VamanaParameters.DEFAULT
            .withGraph(16, 40, 1.2f)
            .withThresholds(0, Integer.MAX_VALUE)
            .withType(type, RandomPicks.randomFrom(random(), CodeKind.values()));
    IndexWriterConfig config =
        new IndexWriterConfig()
            .setCodec(
                TestUtil.alwaysKnnVectorsFormat(
                    new VamanaVectorsFormat(parameters, Workers.callingThread())))
            .setMergePolicy(NoMergePolicy.INSTANCE);
    if (soft) {
      config
          .setSoftDeletesField(DELETED)
          .setMergePolicy(
              new SoftDeletesRetentionMergePolicy(
                  DELETED, MatchAllDocsQuery::new, new LogDocMergePolicy()));
    }
    List<Integer> parents = new ArrayList<>();
    try (Directory directory = new MMapDirectory(createTempDir());
        IndexWriter writer = new IndexWriter(directory, config)) {
      for (int parent = 0; parent < PARENTS; parent++) {
        addBlock(writer, parent);
        parents.add(parent);
        if (parent == PARENTS / 3) {
          writer.flush();
        }
      }
      Collections.shuffle(parents, random());
      int gone = PARENTS * deleted / 100;
      for (int parent : parents.subList(0, gone)) {
        Term block = new Term("block", "" + parent);
        if (soft) {
          writer.updateDocValues(block, new NumericDocValuesField(DELETED, 1));
        } else {
          writer.deleteDocuments(block);
        }
      }
      if (soft) {
        writer.forceMerge(1);
      }
      try (DirectoryReader opened = DirectoryReader.open(writer);
          DirectoryReader reader =
              soft ? new SoftDeletesDirectoryReaderWrapper(opened, DELETED) : opened) {
        // segments without a live document are dropped
        assertTrue(soft == false || reader.maxDoc() == PARENTS * (CHILDREN + 1));
        awaitUploads(reader);
        search(reader, parents.subList(gone, PARENTS));
      }
    }
  }

  /** Waits until what can be on the device is there. */
  private static void awaitUploads(DirectoryReader reader) throws Exception {
    if (ExecutorRegistry.current() instanceof GpuExecutor executor) {
      for (LeafReaderContext leaf : reader.leaves()) {
        KnnVectorsReader fields = ((CodecReader) leaf.reader()).getVectorReader();
        if (fields instanceof PerFieldKnnVectorsFormat.FieldsReader perField) {
          fields = perField.getFieldReader(FIELD);
        }
        SegmentView view = ((SegmentViews) fields).view(FIELD);
        await(() -> executor.presence(view).state() != DevicePresence.State.WAITING);
      }
    }
  }

  private void searchAll(IndexType type) throws Exception {
    for (VectorEncoding encoding : VectorEncoding.values()) {
      bytes = encoding == VectorEncoding.BYTE;
      for (int deleted : new int[] {50, 95, 99}) {
        search(type, deleted, false);
        search(type, deleted, true);
      }
    }
  }

  private void searchAllOnDevice(IndexType type) throws Exception {
    SimulatedDriver driver = driver();
    ResidencyOptions residency =
        ResidencyOptions.defaults(1L << 30)
            .withLimits(MemoryLimit.percent(60), MemoryLimit.percent(60));
    try (ExecutorRegistry.Installation installation =
        ExecutorRegistry.install(
            () -> GpuExecutor.open(() -> driver, residency, WALKS, new QuietListener()))) {
      searchAll(type);
      GpuExecutor executor = (GpuExecutor) installation.executor();
      assertTrue(sum(executor.statistics(), "items_by_placement") > 0);
    }
  }

  public void testGraphs() throws Exception {
    searchAllOnDevice(IndexType.GRAPH);
  }

  public void testLists() throws Exception {
    searchAllOnDevice(IndexType.IVF);
  }
}
