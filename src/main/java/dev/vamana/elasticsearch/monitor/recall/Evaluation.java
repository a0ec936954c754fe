package dev.vamana.elasticsearch.monitor.recall;

import dev.vamana.search.QueryVector;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.ReaderUtil;
import org.apache.lucene.index.SegmentReader;
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
import org.elasticsearch.common.lucene.Lucene;

/**
 * Answers a sampled query exactly, and again with other numbers of candidates, on the calling
 * thread.
 */
final class Evaluation {

  /**
   * A repetition with some number of candidates.
   *
   * @param recall share of the true neighbours that it found, from 0 to 1
   * @param visited distances that it computed
   */
  record Repeat(int numCandidates, double recall, long visited, long nanos) {}

  /**
   * What an evaluation found.
   *
   * @param recall recall of the answer that was sent
   * @param visited distances that the answer took, by its repetition
   * @param repeats repetitions, by increasing number of candidates
   * @param segments true neighbours of each segment, and how many of them the answer had
   * @param answeredBy items of one repetition by who answered them; empty if other searches ran at
   *     the same time
   */
  record Outcome(
      double recall,
      long visited,
      List<Repeat> repeats,
      SortedMap<String, FieldRecall.Share> segments,
      Map<String, Long> answeredBy) {}

  /** Numbers of candidates to try, as multiples of the number asked for. */
  private static final double[] MULTIPLES = {0.5, 1, 1.6, 2.5, 4};

  private static final int MAX_CANDIDATES = 10_000;

  /** Scores whose difference is below this share are equal, to rounding. */
  private static final float ROUNDING = 1e-6f;

  private final RecallSample sample;
  private final IndexSearcher searcher;
  private final BooleanSupplier stop;
  private final Supplier<AnsweredItems> items;

  /**
   * Makes an evaluation.
   *
   * @param stop asked from time to time; true ends the evaluation
   * @param items the node's counters
   */
  Evaluation(RecallSample sample, BooleanSupplier stop, Supplier<AnsweredItems> items) {
    this.sample = sample;
    this.stop = stop;
    this.items = items;
    searcher = new IndexSearcher(sample.reader());
    searcher.setQueryCache(null);
  }

  /** Returns what it found, or null if it was stopped, or the shard has no neighbour at all. */
  Outcome run() throws IOException {
    ScoreDoc[] exact = exact();
    if (exact == null || exact.length == 0) {
      return null;
    }
    List<Repeat> repeats = new ArrayList<>();
    Map<String, Long> answeredBy = Map.of();
    long visited = 0;
    for (int candidates : candidates(sample.k(), sample.numCandidates())) {
      if (stop.getAsBoolean()) {
        return null;
      }
      AnsweredItems before = items.get();
      Repeat repeat = repeat(candidates, exact);
      repeats.add(repeat);
      if (candidates == sample.numCandidates()) {
        visited = repeat.visited();
        answeredBy = alone(before, items.get());
      }
    }
    return new Outcome(recall(exact, sample.hits()), visited, repeats, segments(exact), answeredBy);
  }

  /** Returns the numbers of candidates to try, in order. */
  static Set<Integer> candidates(int k, int asked) {
    Set<Integer> candidates = new TreeSet<>();
    for (double multiple : MULTIPLES) {
      candidates.add((int) Math.max(k, Math.min(MAX_CANDIDATES, Math.round(multiple * asked))));
    }
    return candidates;
  }

  /** Returns the items between two readings if they are of one query only; otherwise none. */
  private Map<String, Long> alone(AnsweredItems before, AnsweredItems after) {
    long segments =
        sample.reader().leaves().stream()
            .filter(leaf -> leaf.reader().getFieldInfos().fieldInfo(sample.field()) != null)
            .count();
    Map<String, Long> answered = new TreeMap<>();
    after
        .by()
        .forEach(
            (who, count) -> {
              long more = count - before.by().getOrDefault(who, 0L);
              if (more > 0) {
                answered.put(who, more);
              }
            });
    return after.requested() - before.requested() <= segments ? answered : Map.of();
  }

  private Repeat repeat(int candidates, ScoreDoc[] exact) throws IOException {
    RepeatedQuery query = RepeatedQuery.of(sample, candidates);
    long start = System.nanoTime();
    ScoreDoc[] hits = searcher.search(query.query(), sample.k()).scoreDocs;
    long nanos = System.nanoTime() - start;
    return new Repeat(candidates, recall(exact, hits), query.visited(), nanos);
  }

  /** Share of the true neighbours among hits. A hit that is as near as the last one is right. */
  private double recall(ScoreDoc[] exact, ScoreDoc[] hits) {
    Set<Integer> docs = docs(exact);
    float last = exact[exact.length - 1].score;
    long found =
        Arrays.stream(hits)
            .limit(exact.length)
            .filter(hit -> docs.contains(hit.doc) || hit.score >= last * (1 - ROUNDING))
            .count();
    return (double) found / exact.length;
  }

  private static Set<Integer> docs(ScoreDoc[] hits) {
    Set<Integer> docs = new HashSet<>();
    for (ScoreDoc hit : hits) {
      docs.add(hit.doc);
    }
    return docs;
  }

  /** Counts neighbours by segment. One that another took the place of by a tie does not count. */
  private SortedMap<String, FieldRecall.Share> segments(ScoreDoc[] exact) {
    IndexReader reader = sample.reader();
    SortedMap<String, FieldRecall.Share> shares = new TreeMap<>();
    for (LeafReaderContext leaf : reader.leaves()) {
      shares.put(name(leaf.reader(), leaf.ord), new FieldRecall.Share(0, 0));
    }
    Set<Integer> found = docs(sample.hits());
    Set<Integer> neighbors = docs(exact);
    float tie = exact[exact.length - 1].score * (1 - ROUNDING);
    long replaced =
        Arrays.stream(sample.hits())
            .limit(exact.length)
            .filter(hit -> neighbors.contains(hit.doc) == false && hit.score >= tie)
            .count();
    for (int i = exact.length - 1; i >= 0; i--) {
      boolean hit = found.contains(exact[i].doc);
      if (hit == false && replaced > 0) {
        replaced--;
        continue;
      }
      LeafReaderContext leaf =
          reader.leaves().get(ReaderUtil.subIndex(exact[i].doc, reader.leaves()));
      shares.merge(
          name(leaf.reader(), leaf.ord),
          new FieldRecall.Share(1, hit ? 1 : 0),
          FieldRecall.Share::plus);
    }
    return shares;
  }

  private static String name(LeafReader reader, int ord) {
    SegmentReader segment = Lucene.tryUnwrapSegmentReader(reader);
    return segment == null ? Integer.toString(ord) : segment.getSegmentName();
  }

  /** Scores all documents that the filter accepts. Returns null if stopped. */
  private ScoreDoc[] exact() throws IOException {
    LongHeap best = new LongHeap(sample.k());
    Query filter = sample.filter();
    Weight weight =
        filter == null
            ? null
            : searcher.createWeight(searcher.rewrite(filter), ScoreMode.COMPLETE_NO_SCORES, 1);
    DocAndFloatFeatureBuffer buffer = new DocAndFloatFeatureBuffer();
    for (LeafReaderContext leaf : sample.reader().leaves()) {
      VectorScorer scorer = scorer(leaf.reader(), sample.field(), sample.vector());
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
