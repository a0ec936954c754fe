package dev.vamana;

import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.search.BatchedKnn;
import java.io.IOException;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene104.Lucene104Codec;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.LuceneTestCase;

/** The README's example of the format in an application of its own. */
public class EmbeddingExampleTests extends LuceneTestCase {

  public void testTheExample() throws IOException {
    Codec codec =
        new Lucene104Codec() {
          @Override
          public KnnVectorsFormat getKnnVectorsFormatForField(String field) {
            return new VamanaVectorsFormat();
          }
        };
    IndexWriterConfig config = new IndexWriterConfig().setCodec(codec);
    try (Directory directory = newDirectory()) {
      try (IndexWriter writer = new IndexWriter(directory, config)) {
        for (int i = 0; i < 100; i++) {
          Document document = new Document();
          document.add(new KnnFloatVectorField("embedding", new float[] {i, 1}));
          writer.addDocument(document);
        }
      }
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        IndexSearcher searcher = new IndexSearcher(reader);
        float[][] queries = {{7.1f, 1}, {93.9f, 1}};
        TopDocs[] hits = new BatchedKnn(searcher).search("embedding", queries, 10, null);
        assertEquals(queries.length, hits.length);
        assertEquals(7, hits[0].scoreDocs[0].doc);
        assertEquals(94, hits[1].scoreDocs[0].doc);
        for (int i = 0; i < queries.length; i++) {
          TopDocs single =
              searcher.search(new KnnFloatVectorQuery("embedding", queries[i], 10), 10);
          assertEquals(10, hits[i].scoreDocs.length);
          assertEquals(single.scoreDocs[0].doc, hits[i].scoreDocs[0].doc);
        }
      }
    }
  }
}
