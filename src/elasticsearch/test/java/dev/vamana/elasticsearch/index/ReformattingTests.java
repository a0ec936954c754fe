package dev.vamana.elasticsearch.index;

import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.elasticsearch.ServerClasses;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.StreamSupport;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.FilterCodec;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.MergePolicy;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.SegmentReader;
import org.apache.lucene.index.TieredMergePolicy;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.index.codec.CodecProvider;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.ElementType;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.VectorIndexType;
import org.junit.BeforeClass;

/** The way into our format and out of it, with the codecs and merge policy that an engine gets. */
public class ReformattingTests extends LuceneTestCase {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static final String STOCK = new Lucene99HnswVectorsFormat().getName();

  private final VectorFieldFormats vamana = formats(new VamanaVectorsFormat());

  private static VectorFieldFormats formats(VamanaVectorsFormat format) {
    return VectorFieldFormats.vamana(
        field ->
            FieldTypes.denseVector(
                field,
                ElementType.FLOAT,
                field.equals("flat") ? VectorIndexType.FLAT : VectorIndexType.HNSW),
        format,
        new StockFieldLog("index"));
  }

  public void testFieldsOfOneSegmentDifferInFormat() throws IOException {
    try (Directory dir = newDirectory()) {
      write(dir, vamana, writer -> add(writer, 3));
      assertEquals(List.of("flat=" + STOCK, "graph=" + VamanaVectorsFormat.NAME), formats(dir));
      assertNearest(dir, 3);
    }
  }

  public void testForcedMergeToSeveralSegmentsRewritesEachOnce() throws IOException {
    try (Directory dir = newDirectory()) {
      for (int i = 0; i < 3; i++) {
        write(dir, VectorFieldFormats.stock(), writer -> add(writer, 4));
      }
      String before = names(dir);
      run(dir, vamana, new TieredMergePolicy(), writer -> writer.forceMerge(5, true));
      assertNotEquals(before, names(dir));
      assertFalse(formats(dir).contains("graph=" + STOCK));
      assertEquals(3, names(dir).split(" ").length);
      assertNearest(dir, 12);
    }
  }

  public void testForcedMergeLeavesWhatIsRightAsItIs() throws IOException {
    try (Directory dir = newDirectory()) {
      write(dir, vamana, writer -> add(writer, 4));
      String before = names(dir);
      forceMerge(dir, vamana);
      assertEquals(before, names(dir));
    }
  }

  public void testSegmentsWithoutVectorsAreLeftAsTheyAre() throws IOException {
    try (Directory dir = newDirectory()) {
      write(dir, VectorFieldFormats.stock(), writer -> writer.addDocument(new Document()));
      String before = names(dir);
      forceMerge(dir, vamana);
      assertEquals(before, names(dir));
    }
  }

  public void testCodecsWithoutAFormatForEachFieldAreHandedOn() {
    Codec codec =
        new FilterCodec("Lucene104", Codec.getDefault()) {
          @Override
          public KnnVectorsFormat knnVectorsFormat() {
            return new Lucene99HnswVectorsFormat();
          }
        };
    assertSame(codec, codecs(codec, vamana).codec("default"));
  }

  private static void add(IndexWriter writer, int count) throws IOException {
    for (int i = 0; i < count; i++) {
      Document doc = new Document();
      int id = writer.getDocStats().numDocs;
      doc.add(new StringField("id", Integer.toString(id), Field.Store.YES));
      doc.add(new KnnFloatVectorField("graph", new float[] {id, 1}));
      doc.add(new KnnFloatVectorField("flat", new float[] {-id, 1}));
      writer.addDocument(doc);
    }
  }

  private static void assertNearest(Directory dir, int count) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(dir)) {
      assertEquals(count, reader.numDocs());
      IndexSearcher searcher = new IndexSearcher(reader);
      IntConsumer nearest =
          id -> {
            try {
              for (String field : List.of("graph", "flat")) {
                float[] query = {field.equals("flat") ? -id : id, 1};
                var hits = searcher.search(new KnnFloatVectorQuery(field, query, 1), 1).scoreDocs;
                String found = searcher.storedFields().document(hits[0].doc).get("id");
                assertEquals(field, Integer.toString(id), found);
              }
            } catch (IOException e) {
              throw new AssertionError(e);
            }
          };
      for (int id = 0; id < count; id++) {
        nearest.accept(id);
      }
    }
  }

  private interface Work {
    void with(IndexWriter writer) throws IOException;
  }

  private static void write(Directory dir, VectorFieldFormats formats, Work work)
      throws IOException {
    run(dir, formats, NoMergePolicy.INSTANCE, work);
  }

  private static void forceMerge(Directory dir, VectorFieldFormats formats) throws IOException {
    run(dir, formats, new TieredMergePolicy(), writer -> writer.forceMerge(1, true));
  }

  private static void run(Directory dir, VectorFieldFormats formats, MergePolicy in, Work work)
      throws IOException {
    IndexWriterConfig config = new IndexWriterConfig();
    config.setCodec(codecs(stockCodec(), formats).codec("default"));
    config.setMergePolicy(new ReformattingMergePolicy(in, formats));
    config.setUseCompoundFile(random().nextBoolean());
    try (IndexWriter writer = new IndexWriter(dir, config)) {
      work.with(writer);
    }
  }

  private static Codec stockCodec() {
    PerFieldKnnVectorsFormat vectors =
        new PerFieldKnnVectorsFormat() {
          @Override
          public KnnVectorsFormat getKnnVectorsFormatForField(String field) {
            return new Lucene99HnswVectorsFormat();
          }
        };
    return new FilterCodec("Lucene104", Codec.forName("Lucene104")) {
      @Override
      public KnnVectorsFormat knnVectorsFormat() {
        return vectors;
      }
    };
  }

  private static CodecProvider codecs(Codec stock, VectorFieldFormats formats) {
    CodecProvider provider =
        new CodecProvider() {
          @Override
          public Codec codec(String name) {
            return stock;
          }

          @Override
          public String[] availableCodecs() {
            return new String[] {"default"};
          }
        };
    return new VamanaCodecProvider(provider, formats, new StockFieldLog("index"));
  }

  private static String names(Directory dir) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(dir)) {
      List<String> names = new ArrayList<>();
      for (LeafReaderContext leaf : reader.leaves()) {
        names.add(((SegmentReader) leaf.reader()).getSegmentName());
      }
      return String.join(" ", names);
    }
  }

  /** The distinct pairs of field and format, sorted. */
  private static List<String> formats(Directory dir) throws IOException {
    try (DirectoryReader reader = DirectoryReader.open(dir)) {
      return reader.leaves().stream()
          .flatMap(leaf -> StreamSupport.stream(leaf.reader().getFieldInfos().spliterator(), false))
          .filter(FieldInfo::hasVectorValues)
          .map(f -> f.name + "=" + f.getAttribute(PerFieldKnnVectorsFormat.PER_FIELD_FORMAT_KEY))
          .distinct()
          .sorted()
          .toList();
    }
  }
}
