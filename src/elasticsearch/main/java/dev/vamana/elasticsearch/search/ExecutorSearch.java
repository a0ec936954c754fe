package dev.vamana.elasticsearch.search;

import dev.vamana.search.BatchedKnn;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SearchExecutor;
import dev.vamana.search.SegmentViews;
import dev.vamana.search.WalkChange;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnByteVectorQuery;
import org.apache.lucene.search.KnnFloatVectorQuery;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.elasticsearch.search.vectors.ESKnnByteVectorQuery;
import org.elasticsearch.search.vectors.ESKnnFloatVectorQuery;
import org.elasticsearch.search.vectors.RescoreKnnVectorQuery;
import org.elasticsearch.search.vectors.VectorSimilarityQuery;

/**
 * Hands the queries of a batch, over all segments, to the node's executor at once.
 *
 * <p>The hits equal the hits of the same queries sent one at a time, since those reach the executor
 * as separate items. In a single query, the number of candidates is both the width of the walk and
 * the number of hits. If some documents are excluded, the number of hits decides how far a walk
 * continues; therefore this class then asks for as many hits as candidates.
 */
final class ExecutorSearch {

  private final IndexSearcher searcher;
  private final SearchExecutor executor;
  private final String field;

  private ExecutorSearch(IndexSearcher searcher, SearchExecutor executor, String field) {
    this.searcher = searcher;
    this.executor = executor;
    this.field = field;
  }

  /**
   * Makes a search by the node's executor. Returns null if there is no executor, if a segment is
   * not in this plugin's format, or if a query is of another kind.
   *
   * @param searcher its timeout ends the search
   * @param queries queries of one field, by the name that segments have it under
   */
  static ExecutorSearch of(IndexSearcher searcher, Query[] queries) {
    SearchExecutor executor = ExecutorRegistry.current();
    if (executor == null) {
      return null;
    }
    for (Query query : queries) {
      Query plain = plain(query);
      if (plain instanceof ESKnnFloatVectorQuery == false
          && plain instanceof ESKnnByteVectorQuery == false) {
        return null;
      }
    }
    String field = field(plain(queries[0]));
    for (LeafReaderContext leaf : searcher.getIndexReader().leaves()) {
      FieldInfo info = leaf.reader().getFieldInfos().fieldInfo(field);
      boolean stored = info != null && info.hasVectorValues();
      if (stored && SegmentViews.of(leaf.reader(), field) == null) {
        return null;
      }
    }
    return new ExecutorSearch(searcher, executor, field);
  }

  /** Name of the executor. */
  String name() {
    return executor.name();
  }

  /**
   * The query without its minimum score, and without the exact scores of more hits than wanted,
   * which fields of quantized types have: the executor's scores are exact.
   */
  private static Query plain(Query query) {
    Query inner =
        query instanceof VectorSimilarityQuery threshold ? threshold.getInnerKnnQuery() : query;
    return inner instanceof RescoreKnnVectorQuery rescored ? rescored.innerQuery() : inner;
  }

  /**
   * Finds the k best documents of each query.
   *
   * @param leastScore minimum score of a hit
   * @param walk what changes in walks
   */
  ScoreDoc[][] search(Query[] queries, int k, float leastScore, WalkChange walk)
      throws IOException {
    Map<Query, List<Integer>> byFilter = new LinkedHashMap<>();
    for (int i = 0; i < queries.length; i++) {
      byFilter.computeIfAbsent(filter(plain(queries[i])), filter -> new ArrayList<>()).add(i);
    }
    List<BatchedKnn.Part> parts = new ArrayList<>();
    byFilter.forEach(
        (filter, numbers) ->
            parts.add(
                new BatchedKnn.Part(
                    numbers.stream().map(i -> vector(plain(queries[i]))).toList(), filter)));
    boolean filtered = parts.size() > 1 || parts.get(0).filter() != null;
    int candidates = candidates(plain(queries[0]));
    List<TopDocs[]> found =
        new BatchedKnn(searcher, executor)
            .search(
                field,
                parts,
                walk.applyTo(executor.defaultWalk(candidates)),
                hitsOfSegment(searcher.getIndexReader(), filtered, k, candidates));
    ScoreDoc[][] hits = new ScoreDoc[queries.length][];
    int part = 0;
    for (List<Integer> numbers : byFilter.values()) {
      TopDocs[] ofPart = found.get(part++);
      for (int i = 0; i < ofPart.length; i++) {
        hits[numbers.get(i)] = best(ofPart[i].scoreDocs, k, leastScore);
      }
    }
    return hits;
  }

  /**
   * Returns the number of hits that each segment is asked for.
   *
   * @param filtered whether any query has a filter
   */
  static int hitsOfSegment(IndexReader reader, boolean filtered, int k, int candidates) {
    return filtered || reader.hasDeletions() ? candidates : k;
  }

  private static ScoreDoc[] best(ScoreDoc[] hits, int k, float leastScore) {
    int count = 0;
    while (count < Math.min(k, hits.length) && hits[count].score >= leastScore) {
      count++;
    }
    ScoreDoc[] best = new ScoreDoc[count];
    System.arraycopy(hits, 0, best, 0, count);
    return best;
  }

  private static String field(Query query) {
    return query instanceof KnnFloatVectorQuery floats
        ? floats.getField()
        : ((KnnByteVectorQuery) query).getField();
  }

  private static Query filter(Query query) {
    return query instanceof KnnFloatVectorQuery floats
        ? floats.getFilter()
        : ((KnnByteVectorQuery) query).getFilter();
  }

  private static int candidates(Query query) {
    return query instanceof KnnFloatVectorQuery floats
        ? floats.getK()
        : ((KnnByteVectorQuery) query).getK();
  }

  private static QueryVector vector(Query query) {
    return query instanceof KnnFloatVectorQuery floats
        ? QueryVector.of(floats.getTargetCopy())
        : QueryVector.of(((KnnByteVectorQuery) query).getTargetCopy());
  }
}
