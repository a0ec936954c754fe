package dev.vamana.search;

import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.knn.KnnSearchStrategy;

/**
 * Tests queries whose products with all vectors are negative. Their hits are the shortest vectors;
 * these are near to no other vector by inner product, so walks do not find them.
 */
public class NegativeProductsTests extends SearchTestCase {
  private static final int SIZE = 8_000;
  private static final int DIMS = 8;
  private static final int K = 10;
  private static final int QUERIES = 20;

  private static float[] vector(float sign, float scale) {
    float[] vector = new float[DIMS];
    for (int d = 0; d < DIMS; d++) {
      vector[d] = sign * scale * random().nextFloat();
    }
    return vector;
  }

  private static TestVectors positive(float scale) {
    List<QueryVector> vectors = new ArrayList<>();
    for (int i = 0; i < SIZE; i++) {
      vectors.add(QueryVector.of(vector(1, scale)));
    }
    return new TestVectors(VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT, vectors);
  }

  private interface Search {
    TopDocs hits(TestIndex index, QueryVector query, Query filter) throws IOException;
  }

  private static Search single(KnnSearchStrategy strategy) {
    return (index, query, filter) ->
        index.searcher.search(
            new KnnFloatVectorQuery(FIELD, query.floats(), K, filter, strategy), K);
  }

  private static List<Search> searches() {
    return List.of(
        single(KnnSearchStrategy.Hnsw.DEFAULT),
        single(new VamanaSearchStrategy(WalkParameters.exact(40))),
        (index, query, filter) ->
            new BatchedKnn(index.searcher, new CpuExecutor(Workers.callingThread()))
                .search(FIELD, new float[][] {query.floats()}, K, filter)[0]);
  }

  public void testAllProductsAreNegative() throws IOException {
    for (float scale : new float[] {1, 1e-6f}) {
      try (TestIndex index = new TestIndex(positive(scale), graphs(), 1)) {
        for (Search search : searches()) {
          for (int accepted : new int[] {SIZE, SIZE / 2}) {
            double recall = 0;
            for (int i = 0; i < QUERIES; i++) {
              QueryVector query = QueryVector.of(vector(-1, scale));
              TopDocs hits =
                  search.hits(index, query, accepted == SIZE ? null : index.filter(accepted));
              int[] ids = ids(index.searcher, hits);
              assertWellFormed(index.vectors, query, hits, ids, index.accepted(accepted));
              recall += exactRecall(index, query, index.accepted(accepted), ids) / QUERIES;
            }
            assertTrue("recall " + recall + ", scale " + scale, recall >= 0.99);
          }
        }
      }
    }
  }

  /** Computes recall from products in double precision, since scores of small vectors tie. */
  private static double exactRecall(
      TestIndex index, QueryVector query, IntPredicate accepted, int[] ids) {
    double[] products = new double[SIZE];
    for (int id = 0; id < SIZE; id++) {
      for (int d = 0; d < DIMS; d++) {
        products[id] += (double) query.floats()[d] * index.vectors.get(id).floats()[d];
      }
    }
    double worst =
        IntStream.range(0, SIZE)
            .filter(accepted)
            .mapToDouble(id -> -products[id])
            .sorted()
            .limit(K)
            .max()
            .orElseThrow();
    return IntStream.of(ids).filter(id -> -products[id] <= worst * (1 + 1e-5)).count() / (double) K;
  }

  /** Queries with products of both signs are walked, not scanned. */
  public void testOtherQueriesAreNotScanned() throws IOException {
    TestVectors vectors =
        TestVectors.clustered(
            random(),
            VectorEncoding.FLOAT32,
            VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT,
            SIZE,
            DIMS);
    try (TestIndex index = new TestIndex(vectors, graphs(), 1)) {
      for (int i = 0; i < QUERIES; i++) {
        for (KnnSearchStrategy strategy :
            List.of(
                KnnSearchStrategy.Hnsw.DEFAULT,
                new VamanaSearchStrategy(WalkParameters.exact(K)))) {
          CountedQuery query =
              new CountedQuery(FIELD, vectors.get(random().nextInt(SIZE)), K, null, strategy);
          index.searcher.search(query.query(), K);
          assertTrue("visited " + query.visited(), query.visited() < SIZE / 2);
        }
      }
    }
  }
}
