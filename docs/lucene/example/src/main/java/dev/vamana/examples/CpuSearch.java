package dev.vamana.examples;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.search.BatchedKnn;
import dev.vamana.search.CpuExecutor;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene104.Lucene104Codec;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.IntField;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;

/** Indexes vectors and finds the nearest of them, on the CPU. */
public final class CpuSearch {

  static final int VECTORS = 6_000;
  static final int DIMENSION = 16;

  public static void main(String[] arguments) throws IOException {
    TopDocs[] answers = run(Path.of(arguments[0]));
    for (ScoreDoc hit : answers[0].scoreDocs) {
      System.out.println("document " + hit.doc + ", score " + hit.score);
    }
  }

  static TopDocs[] run(Path folder) throws IOException {
    int threads = Runtime.getRuntime().availableProcessors();
    ExecutorService pool = Executors.newFixedThreadPool(threads);
    try (Directory directory = FSDirectory.open(folder)) {
      Workers workers = new Workers(pool, threads);
      index(directory, workers);
      try (DirectoryReader reader = DirectoryReader.open(directory)) {
        return search(new IndexSearcher(reader, pool), workers);
      }
    } finally {
      pool.shutdown();
    }
  }

  static Codec codec(Workers workers) {
    KnnVectorsFormat format = new VamanaVectorsFormat(VamanaParameters.DEFAULT, workers);
    return new Lucene104Codec() {
      @Override
      public KnnVectorsFormat getKnnVectorsFormatForField(String field) {
        return format;
      }
    };
  }

  static void index(Directory directory, Workers workers) throws IOException {
    Random random = new Random(7);
    IndexWriterConfig config = new IndexWriterConfig().setCodec(codec(workers));
    try (IndexWriter writer = new IndexWriter(directory, config)) {
      for (int i = 0; i < VECTORS; i++) {
        Document document = new Document();
        document.add(
            new KnnFloatVectorField(
                "embedding", vector(random), VectorSimilarityFunction.EUCLIDEAN));
        document.add(new IntField("year", 2000 + i % 25, Field.Store.YES));
        writer.addDocument(document);
      }
      writer.forceMerge(1);
    }
  }

  static TopDocs[] search(IndexSearcher searcher, Workers workers) throws IOException {
    Random random = new Random(8);
    float[][] queries = new float[100][];
    for (int i = 0; i < queries.length; i++) {
      queries[i] = vector(random);
    }
    Query recent = IntField.newRangeQuery("year", 2015, 2024);

    // one query: Lucene's own
    Query first = new KnnFloatVectorQuery("embedding", queries[0], 10, recent);
    TopDocs hits = searcher.search(first, 10);
    System.out.println("best score of the first query: " + hits.scoreDocs[0].score);

    // many queries: one batch, shared among the pool's threads
    BatchedKnn batched = new BatchedKnn(searcher, new CpuExecutor(workers));
    return batched.search("embedding", queries, 10, recent);
  }

  static float[] vector(Random random) {
    float[] vector = new float[DIMENSION];
    for (int i = 0; i < DIMENSION; i++) {
      vector[i] = (float) random.nextGaussian();
    }
    return vector;
  }
}
