package dev.vamana.cuda;

import dev.vamana.codec.IndexType;
import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.cuda.memory.ResidencyOptions;
import dev.vamana.ivf.CodeKind;
import dev.vamana.search.BatchedKnn;
import dev.vamana.work.Workers;
import java.io.IOException;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.document.StringField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.NoMergePolicy;
import org.apache.lucene.index.Term;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.TestUtil;

/** A merge keeps a field whose vectors are all deleted; batches search the other segments. */
public class EmptySegmentTests extends GpuTestCase {

  private static final int DIMS = 8;
  private static final int COUNT = 60;

  private static Document document(String kind, float[] vector) {
    Document document = new Document();
    document.add(new StringField("kind", kind, Field.Store.NO));
    if (vector != null) {
      document.add(new KnnFloatVectorField(FIELD, vector, VectorSimilarityFunction.EUCLIDEAN));
    }
    return document;
  }

  private static float[] vector() {
    float[] vector = new float[DIMS];
    for (int d = 0; d < DIMS; d++) {
      vector[d] = (float) random().nextGaussian();
    }
    return vector;
  }

  /** The first segment has documents without vectors; all that had vectors are deleted. */
  private static void write(Directory directory, VamanaParameters parameters, boolean others)
      throws IOException {
    VamanaVectorsFormat format = new VamanaVectorsFormat(parameters, Workers.callingThread());
    try (IndexWriter writer =
        new IndexWriter(
            directory, new IndexWriterConfig().setCodec(TestUtil.alwaysKnnVectorsFormat(format)))) {
      for (int doc = 0; doc < COUNT; doc++) {
        writer.addDocument(document("gone", vector()));
        writer.addDocument(document("plain", null));
      }
      writer.commit();
      writer.deleteDocuments(new Term("kind", "gone"));
      writer.forceMerge(1);
    }
    if (others == false) {
      return;
    }
    try (IndexWriter writer =
        new IndexWriter(
            directory,
            new IndexWriterConfig()
                .setCodec(TestUtil.alwaysKnnVectorsFormat(format))
                .setMergePolicy(NoMergePolicy.INSTANCE))) {
      for (int doc = 0; doc < COUNT; doc++) {
        writer.addDocument(document("kept", vector()));
      }
    }
  }

  public void testSegmentsWithoutVectors() throws Exception {
    for (IndexType type : IndexType.values()) {
      for (boolean others : new boolean[] {false, true}) {
        VamanaParameters parameters = VamanaParameters.DEFAULT.withThresholds(0, 0);
        try (Directory directory = newDirectory()) {
          write(
              directory,
              type == IndexType.IVF ? parameters.withType(type, CodeKind.values()[0]) : parameters,
              others);
          try (DirectoryReader reader = DirectoryReader.open(directory);
              GpuExecutor executor =
                  GpuExecutor.open(
                      GpuTestCase::driver,
                      ResidencyOptions.defaults(1L << 30),
                      WALKS,
                      new QuietListener())) {
            assertEquals(others ? 2 : 1, reader.leaves().size());
            assertTrue(
                reader.leaves().get(0).reader().getFieldInfos().fieldInfo(FIELD).hasVectorValues());
            float[][] queries = {vector(), vector(), vector()};
            TopDocs[] found =
                new BatchedKnn(new IndexSearcher(reader), executor)
                    .search(FIELD, queries, 10, null);
            assertEquals(queries.length, found.length);
            for (TopDocs hits : found) {
              assertEquals(others ? 10 : 0, hits.scoreDocs.length);
            }
          }
        }
      }
    }
  }
}
