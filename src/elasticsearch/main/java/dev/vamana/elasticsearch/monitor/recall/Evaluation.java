package dev.vamana.elasticsearch.monitor.recall;

import dev.vamana.search.QueryVector;
import java.io.IOException;
import java.util.Arrays;
import java.util.Set;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.DocAndFloatFeatureBuffer;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.VectorScorer;
import org.apache.lucene.search.Weight;
import org.apache.lucene.util.LongHeap;
import org.apache.lucene.util.NumericUtils;

/** Answers a sampled query exactly, on the calling thread, and compares. */
final class Evaluation {

  /** Scores whose difference is below this share are equal, to rounding. */
  private static final float ROUNDING = 1e-6f;

  private Evaluation() {}

  /**
   * Returns the share of the true neighbours that the answer had, from 0 to 1; null if it was
   * stopped, or the shard has no neighbour at all.
   *
   * @param stop asked from time to time; true ends the evaluation
   */
  static Double recall(RecallSample sample, BooleanSupplier stop) throws IOException {
    ScoreDoc[] exact = exact(sample, stop);
    return exact == null || exact.length == 0 ? null : recall(exact, sample.hits);
  }

  /** A hit that is as near as the last neighbour is right. */
  static double recall(ScoreDoc[] exact, ScoreDoc[] hits) {
    Set<Integer> docs = Arrays.stream(exact).map(hit -> hit.doc).collect(Collectors.toSet());
    float last = exact[exact.length - 1].score;
    long found =
        Arrays.stream(hits)
            .limit(exact.length)
            .filter(hit -> docs.contains(hit.doc) || hit.score >= last * (1 - ROUNDING))
            .count();
    return (double) found / exact.length;
  }

  /** Scores all documents that the filter accepts. Returns null if stopped. */
  private static ScoreDoc[] exact(RecallSample sample, BooleanSupplier stop) throws IOException {
    IndexSearcher searcher = new IndexSearcher(sample.reader());
    searcher.setQueryCache(null);
    LongHeap best = new LongHeap(sample.k);
    Query filter = sample.filter;
    Weight weight =
        filter == null
            ? null
            : searcher.createWeight(searcher.rewrite(filter), ScoreMode.COMPLETE_NO_SCORES, 1);
    DocAndFloatFeatureBuffer buffer = new DocAndFloatFeatureBuffer();
    for (LeafReaderContext leaf : sample.reader().leaves()) {
      VectorScorer scorer = scorer(leaf.reader(), sample.field, sample.vector);
      Scorer accepted = weight == null ? null : weight.scorer(leaf);
      if (scorer == null || (weight != null && accepted == null)) {
        continue;
      }
      VectorScorer.Bulk bulk = scorer.bulk(accepted == null ? null : accepted.iterator());
      while (true) {
        if (stop.getAsBoolean()) {
          return null;
        }
        bulk.nextDocsAndScores(DocIdSetIterator.NO_MORE_DOCS, leaf.reader().getLiveDocs(), buffer);
        if (buffer.size == 0) {
          break;
        }
        for (int i = 0; i < buffer.size; i++) {
          best.insertWithOverflow(encode(buffer.features[i], leaf.docBase + buffer.docs[i]));
        }
      }
    }
    ScoreDoc[] exact = new ScoreDoc[best.size()];
    for (int i = exact.length - 1; i >= 0; i--) {
      long entry = best.pop();
      exact[i] = new ScoreDoc((int) ~entry, NumericUtils.sortableIntToFloat((int) (entry >> 32)));
    }
    return exact;
  }

  /** The least score, and of equal ones the last document, is the smallest value. */
  private static long encode(float score, int doc) {
    return ((long) NumericUtils.floatToSortableInt(score) << 32) | (~doc & 0xFFFFFFFFL);
  }

  private static VectorScorer scorer(LeafReader reader, String field, QueryVector vector)
      throws IOException {
    if (vector.floats() != null) {
      FloatVectorValues floats = reader.getFloatVectorValues(field);
      return floats == null || floats.size() == 0 ? null : floats.scorer(vector.floats());
    }
    ByteVectorValues bytes = reader.getByteVectorValues(field);
    return bytes == null || bytes.size() == 0 ? null : bytes.scorer(vector.bytes());
  }
}
