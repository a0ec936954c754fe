package dev.vamana.search;

import dev.vamana.ivf.Candidates;
import dev.vamana.ivf.InvertedLists;
import dev.vamana.ivf.ListQuery;
import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.util.ArrayUtil;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.LongHeap;
import org.apache.lucene.util.NumericUtils;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * Searches inverted lists, driven by a Lucene collector: the collector's competitive similarity
 * says which vectors get exact scores and when the search ends, and the collector may stop it after
 * any list. Every kind of collector works, as for {@link CollectorWalk}.
 *
 * <p>Lists are taken in the order of a distance that few of their vectors are nearer than. Codes
 * estimate the distances of a list's vectors; vectors that the bound of the error leaves open are
 * scored exactly, the most promising first. The search ends when the collector is full and the
 * lists searched last have brought no more hits. With a filter lists have fewer hits, so more are
 * searched. docs/internals/ivf.md has the rule, docs/internals/tried.md other rules.
 *
 * <p>The collector's strategy hears of no blocks of vectors: strategies that end a search which
 * hardly finds anything new take a block for one node of a graph, and lists have the rule above.
 */
final class ListSearch {

  // vectors that are scored before the limit is looked at again
  private static final int BLOCK = 16;

  // with fewer accepted vectors in a list, estimates cost as much as they save
  private static final int MIN_ESTIMATED = 12;

  // with fewer accepted vectors for each candidate, hits are in most lists
  private static final int MOST_LISTS = 16;

  // accepted vectors for each candidate of a scan from which estimates save scores, and estimates
  // that take as long as a score
  private static final int MOST_SCORED = 8;
  private static final int CODES_OF_A_SCORE = 16;

  private static final int MIN_PROBES = 4;
  private static final double WINDOW = 0.7;
  private static final double LATE_HITS = 0.01;
  // new hits of a list, from the fourth in the window on
  private static final double RATE = 0.04;
  private static final int UNRATED = 3;

  private final InvertedLists lists;
  private final RandomVectorScorer scorer;
  private final KnnCollector collector;
  private final float[] query;
  // the scores of the best hits, least on top; null if the collector keeps as many
  private final LongHeap best;
  private final int width;
  // whether the collector wants all hits from a score on, ties included
  private final boolean threshold;
  private final int[] ordinals = new int[BLOCK];
  private final float[] scores = new float[BLOCK];
  private final Candidates candidates = new Candidates();
  private float limit;
  // code of a vector in the current list that is no better than the worst hit; 0 for none
  private long useless;
  // lists searched, hits found, and how many of these before each list
  private int probed;
  private int allHits;
  private int[] hits = new int[64];

  /**
   * Makes a search.
   *
   * @param scorer exact scores of the query against ordinals
   * @param collector receives ordinals (not documents) with their scores
   * @param width least number of hits whose distances decide when the search ends, 1 or more
   */
  ListSearch(
      InvertedLists lists,
      QueryVector query,
      RandomVectorScorer scorer,
      KnnCollector collector,
      int width)
      throws IOException {
    this.lists = lists;
    this.scorer = scorer;
    this.collector = collector;
    this.query = query.floats() != null ? query.floats() : query.toFloats();
    this.width = Math.min(width, lists.shape().size());
    // a collector of all hits above a score has such a score before its first hit
    this.threshold = collector.minCompetitiveSimilarity() > Float.NEGATIVE_INFINITY;
    this.best = threshold || collector.k() >= this.width ? null : new LongHeap(this.width);
  }

  /** Whether so few vectors are accepted that all of them are scored. */
  static boolean scans(int lists, int width, int accepted) {
    return accepted <= 2L * Math.max(width, lists)
        || (isFew(lists, accepted) && accepted <= (long) MOST_LISTS * width);
  }

  /** Whether so few vectors are accepted that they are scored without estimates. */
  static boolean isFew(int lists, int accepted) {
    return accepted < (long) MIN_ESTIMATED * lists;
  }

  /** Searches for a work item, on the calling thread. */
  static WorkResult search(WorkItem item) throws IOException {
    SegmentView segment = item.segment();
    ExactDistances exact = ExactDistances.of(segment, item.query());
    return CpuExecutor.collect(
        item,
        exact,
        collector ->
            new ListSearch(
                    segment.lists(),
                    item.query(),
                    exact.ranking(),
                    collector,
                    Math.max(item.k(), item.walk().beamWidth()))
                .run(item.acceptedOrdinals(), item.acceptedCount()));
  }

  /**
   * Scores the accepted vectors of a segment that may be hits. These are all of them, unless the
   * segment has codes for scans and accepts so many that estimates pay.
   *
   * @param width least number of hits whose distances decide which vectors are scored
   * @param accepted ordinals that may be collected, or null for all
   * @param acceptedCount estimated number of accepted ordinals
   */
  static void scan(
      SegmentView segment,
      QueryVector query,
      RandomVectorScorer scorer,
      KnnCollector collector,
      int width,
      Bits accepted,
      int acceptedCount)
      throws IOException {
    InvertedLists codes = segment.scanCodes();
    if (codes == null
        || acceptedCount < MOST_SCORED * (long) width
        || acceptedCount < segment.size() / CODES_OF_A_SCORE) {
      new ExactScan(scorer, collector).run(accepted);
    } else {
      new ListSearch(codes, query, scorer, collector, width).run(accepted, acceptedCount);
    }
  }

  /**
   * Searches until no list is competitive or the collector stops the search.
   *
   * @param accepted ordinals that may be collected, or null for all
   * @param acceptedCount estimated number of accepted ordinals
   */
  void run(Bits accepted, int acceptedCount) throws IOException {
    int size = lists.shape().size();
    int count = accepted == null ? size : Math.min(acceptedCount, size);
    int all = lists.shape().lists();
    boolean few = isFew(all, count);
    // comparing centroids would cost as much, or most lists have a hit
    if (scans(all, width, count)) {
      new ExactScan(scorer, collector).run(accepted);
      return;
    }
    updateLimit();
    ListQuery near = new ListQuery(lists, query);
    if (few) {
      scoreByList(near, accepted);
      return;
    }
    while (goesOn(near)) {
      near.next();
      useless = 0;
      boolean more;
      do {
        more = near.scan(accepted, limit, candidates);
        scoreCandidates();
      } while (more && collector.earlyTerminated() == false);
    }
  }

  /**
   * Whether another list is searched, which is then counted. The lists that come last bring few
   * hits. If the last {@value #WINDOW} of all lists so far brought none, the rest, which are
   * farther, very probably have few: the rule asks as many lists as hits are spread over. Where
   * hits are spread over most lists, it ends at {@value #RATE} hits a list: a query that goes on
   * for the last of its hits costs as much as several that find most of theirs.
   */
  private boolean goesOn(ListQuery near) {
    if (near.hasNext() == false || collector.earlyTerminated()) {
      return false;
    }
    if (limit < Float.POSITIVE_INFINITY && probed >= MIN_PROBES) {
      int start = (int) (probed * (1 - WINDOW));
      int late = allHits - hits[start];
      if (late <= Math.max(LATE_HITS * width, RATE * (probed - start - UNRATED))) {
        return false;
      }
    }
    hits = ArrayUtil.grow(hits, probed + 1);
    hits[probed++] = allHits;
    return true;
  }

  /**
   * Scores candidates, the most promising first, as long as they may be hits. Bounds of vectors
   * that are as near as the worst hit lie below the limit, so equal vectors are told by their
   * codes: once one is no better than the worst hit, none of them is.
   */
  private void scoreCandidates() throws IOException {
    candidates.sort();
    int count = 0;
    long code = 0;
    for (int i = 0; i < candidates.size(); i++) {
      if (candidates.bound(i) > limit || candidates.code(i) == useless) {
        continue;
      }
      code = candidates.code(i);
      ordinals[count++] = candidates.ordinal(i);
      if (count == BLOCK) {
        score(count, code);
        count = 0;
        if (collector.earlyTerminated()) {
          break;
        }
      }
    }
    score(count, code);
    candidates.clear();
  }

  /** Scores vectors of which the last has such a code. */
  private void score(int count, long code) throws IOException {
    score(count);
    if (count > 0) {
      float last = scores[count - 1];
      float least = leastUseful();
      useless = last < least || (last == least && threshold == false) ? code : useless;
    }
  }

  private void score(int found) throws IOException {
    int count =
        (int) Math.min(found, Math.max(0, collector.visitLimit() - collector.visitedCount()));
    if (count == 0) {
      return;
    }
    collector.incVisitedCount(count);
    float least = leastUseful();
    if (scorer.bulkScore(ordinals, scores, count) < least) {
      return;
    }
    for (int i = 0; i < count; i++) {
      boolean hit = collector.collect(ordinals[i], scores[i]);
      if (best != null) {
        hit = best.insertWithOverflow(NumericUtils.floatToSortableInt(scores[i]));
      }
      // a tie with the worst hit is no reason to go on
      allHits += hit && scores[i] > least ? 1 : 0;
    }
    updateLimit();
  }

  private float leastUseful() {
    float least = collector.minCompetitiveSimilarity();
    if (best == null) {
      return least;
    }
    return best.size() < width
        ? Float.NEGATIVE_INFINITY
        : Math.min(least, NumericUtils.sortableIntToFloat((int) best.top()));
  }

  private void updateLimit() {
    limit = lists.estimates().distance(leastUseful(), lists.shape().dimension());
  }

  /** Scores the accepted vectors of one list after the other, without estimates. */
  private void scoreByList(ListQuery near, Bits accepted) throws IOException {
    Accepted byList = new Accepted(accepted);
    int count = 0;
    while (goesOn(near)) {
      int list = near.next();
      for (int i = byList.starts[list]; i < byList.starts[list + 1]; i++) {
        ordinals[count++] = byList.members[i];
        if (count == BLOCK) {
          score(count);
          count = 0;
          if (collector.earlyTerminated()) {
            return;
          }
        }
      }
    }
    score(count);
  }

  /** Accepted ordinals by list. */
  private final class Accepted {
    private final int[] starts = new int[lists.shape().lists() + 1];
    private int[] members = new int[64];

    Accepted(Bits accepted) throws IOException {
      int size = lists.shape().size();
      int count = 0;
      DocIdSetIterator iterator = AcceptedOrdinals.iterator(accepted, size);
      int ordinal = iterator.nextDoc();
      while (ordinal < size) {
        if (count == members.length) {
          members = Arrays.copyOf(members, 2 * count);
        }
        members[count++] = ordinal;
        ordinal = iterator.nextDoc();
      }
      sort(count);
    }

    private void sort(int count) throws IOException {
      int[] ofMember = new int[count];
      lists.find(members, count, ofMember);
      for (int list : ofMember) {
        starts[list + 1]++;
      }
      for (int list = 1; list < starts.length; list++) {
        starts[list] += starts[list - 1];
      }
      int[] sorted = new int[count];
      int[] at = Arrays.copyOf(starts, starts.length);
      for (int i = 0; i < count; i++) {
        sorted[at[ofMember[i]]++] = members[i];
      }
      members = sorted;
    }
  }
}
