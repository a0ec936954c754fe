package dev.vamana.search;

import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.ivf.CodeKind;
import dev.vamana.work.Workers;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.IntPredicate;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntField;
import org.apache.lucene.document.KnnByteVectorField;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.CodecReader;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.SortedNumericDocValues;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.apache.lucene.util.IOUtils;

/** Base class with indexes and queries for search tests. */
abstract class SearchTestCase extends LuceneTestCase {

  static final String FIELD = "vector";

  /** Row of the document's vector. */
  static final String ID = "id";

  /** A permutation of the ids; filters are ranges of it. */
  static final String SHUFFLED = "shuffled";

  static final IntPredicate ALL = id -> true;

  /** Cheap graphs in every segment, codes in none. */
  static KnnVectorsFormat graphs() {
    return format(Integer.MAX_VALUE);
  }

  /** Cheap graphs and codes in every segment. */
  static KnnVectorsFormat graphsAndCodes() {
    return format(0);
  }

  /** Inverted lists in every segment. */
  static KnnVectorsFormat lists() {
    return lists(CodeKind.values()[random().nextInt(CodeKind.values().length)]);
  }

  /** Inverted lists with such codes in every segment. */
  static KnnVectorsFormat lists(CodeKind kind) {
    return new VamanaVectorsFormat(
        VamanaParameters.DEFAULT.withThresholds(0, 0).withType(IndexType.IVF, kind),
        Workers.callingThread());
  }

  private static KnnVectorsFormat format(int quantizationThreshold) {
    return new VamanaVectorsFormat(
        VamanaParameters.DEFAULT.withGraph(32, 64, 1.2f).withThresholds(0, quantizationThreshold),
        Workers.callingThread());
  }

  static IndexWriterConfig config(KnnVectorsFormat format) {
    return new IndexWriterConfig()
        .setCodec(TestUtil.alwaysKnnVectorsFormat(format))
        .setMergePolicy(NoMergePolicy.INSTANCE);
  }

  /** A directory whose files are mapped, or one whose files are not. */
  static Directory directory() throws IOException {
    return random().nextBoolean() ? newDirectory() : new MMapDirectory(createTempDir());
  }

  static VectorEncoding randomEncoding() {
    return VectorEncoding.values()[random().nextInt(2)];
  }

  static VectorSimilarityFunction randomSimilarity() {
    return VectorSimilarityFunction.values()[random().nextInt(4)];
  }

  static Document document(TestVectors vectors, int id, int shuffled) {
    Document document = new Document();
    document.add(new IntField(ID, id, Field.Store.NO));
    document.add(new IntField(SHUFFLED, shuffled, Field.Store.NO));
    document.add(vectorField(vectors, id));
    return document;
  }

  static Field vectorField(TestVectors vectors, int id) {
    QueryVector vector = vectors.get(id);
    return vector.floats() != null
        ? new KnnFloatVectorField(FIELD, vector.floats(), vectors.similarity())
        : new KnnByteVectorField(FIELD, vector.bytes(), vectors.similarity());
  }

  static List<Integer> permutation(int size, Random random) {
    List<Integer> permutation = new ArrayList<>();
    for (int i = 0; i < size; i++) {
      permutation.add(i);
    }
    Collections.shuffle(permutation, random);
    return permutation;
  }

  /** An index of all vectors in so many segments, open for search. */
  static final class TestIndex implements Closeable {
    final TestVectors vectors;
    final List<Integer> shuffled;
    final Directory directory;
    final DirectoryReader reader;
    final IndexSearcher searcher;

    TestIndex(TestVectors vectors, KnnVectorsFormat format, int segments) throws IOException {
      this.vectors = vectors;
      this.shuffled = permutation(vectors.size(), random());
      this.directory = directory();
      try (IndexWriter writer = new IndexWriter(directory, config(format))) {
        for (int id = 0; id < vectors.size(); id++) {
          writer.addDocument(document(vectors, id, shuffled.get(id)));
          if ((long) (id + 1) * segments / vectors.size() > (long) id * segments / vectors.size()) {
            writer.flush();
          }
        }
        writer.commit();
      }
      this.reader = DirectoryReader.open(directory);
      this.searcher = new IndexSearcher(reader);
    }

    /** Documents whose place in the permutation is below a limit. */
    Query filter(int limit) {
      return IntField.newRangeQuery(SHUFFLED, 0, limit - 1);
    }

    /** The ids that {@link #filter} accepts. */
    IntPredicate accepted(int limit) {
      return id -> shuffled.get(id) < limit;
    }

    SegmentView view() throws IOException {
      return SearchTestCase.view(getOnlyLeafReader(reader));
    }

    @Override
    public void close() throws IOException {
      IOUtils.close(reader, directory);
    }
  }

  static SegmentView view(LeafReader reader) {
    KnnVectorsReader vectors = ((CodecReader) reader).getVectorReader();
    if (vectors instanceof PerFieldKnnVectorsFormat.FieldsReader perField) {
      vectors = perField.getFieldReader(FIELD);
    }
    return ((SegmentViews) vectors).view(FIELD);
  }

  /** Ids of the hits, in their order. */
  static int[] ids(IndexSearcher searcher, TopDocs hits) throws IOException {
    List<LeafReaderContext> leaves = searcher.getIndexReader().leaves();
    int[] ids = new int[hits.scoreDocs.length];
    for (int i = 0; i < ids.length; i++) {
      ScoreDoc hit = hits.scoreDocs[i];
      LeafReaderContext leaf = leaves.get(ReaderUtil.subIndex(hit.doc, leaves));
      SortedNumericDocValues values = leaf.reader().getSortedNumericDocValues(ID);
      assertTrue(values.advanceExact(hit.doc - leaf.docBase));
      ids[i] = (int) values.nextValue();
    }
    return ids;
  }

  /** Asserts that hits are distinct, ordered, accepted, and scored exactly. */
  static void assertWellFormed(
      TestVectors vectors, QueryVector query, TopDocs hits, int[] ids, IntPredicate accepted) {
    for (int i = 0; i < ids.length; i++) {
      assertTrue("hit " + ids[i] + " is not accepted", accepted.test(ids[i]));
      float exact = vectors.score(query, ids[i]);
      assertEquals(exact, hits.scoreDocs[i].score, Math.abs(exact) * 1e-4f + 1e-6f);
      if (i > 0) {
        assertTrue("scores ascend", hits.scoreDocs[i - 1].score >= hits.scoreDocs[i].score);
      }
    }
    assertEquals("hits repeat", ids.length, java.util.Arrays.stream(ids).distinct().count());
  }

  /**
   * Asserts that hits are the same up to the last bits of scores: the order in which the Vector API
   * adds up lanes is not defined, and differs between interpreted and compiled code.
   */
  static void assertSameHits(ScoreDoc[] expected, ScoreDoc[] actual) {
    assertEquals(expected.length, actual.length);
    Set<Integer> docs = new HashSet<>();
    for (ScoreDoc hit : actual) {
      docs.add(hit.doc);
    }
    for (int i = 0; i < expected.length; i++) {
      float score = expected[i].score;
      float slack = 1e-5f * Math.abs(score);
      assertEquals(score, actual[i].score, slack);
      // at the end of the list another hit of the same score may stand
      assertTrue(
          "misses " + expected[i],
          docs.contains(expected[i].doc) || score - slack <= expected[expected.length - 1].score);
    }
  }
}
