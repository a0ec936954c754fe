package dev.vamana.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntUnaryOperator;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TotalHits;

/**
 * Queries that {@link BatchedKnn} gathers until they fill a call of the executor. {@link #finish}
 * searches them and merges the hits of their segments.
 */
final class KnnBatch {

  /**
   * Work items that are handed over in one call. It limits the memory that a large request holds at
   * once. Several devices share the items of a call.
   */
  private static final int MAX_ITEMS = 32_768;

  private final Items searchItems;
  private final Runnable onRepeat;
  private final int k;
  private final List<WorkItem> items = new ArrayList<>();
  private final List<Gathered> gathered = new ArrayList<>();
  private int queries;

  /**
   * Makes an empty batch.
   *
   * @param onRepeat called for each item that is searched again
   * @param k most hits of a query
   */
  KnnBatch(Items searchItems, Runnable onRepeat, int k) {
    this.searchItems = searchItems;
    this.onRepeat = onRepeat;
    this.k = k;
  }

  /** Searches items; returns one result for each, in order. */
  interface Items {
    List<WorkResult> search(List<WorkItem> items) throws IOException;
  }

  /** A segment and the documents in it that may be hits. */
  interface Leaf {

    /** Returns the number of the segment's first document in the reader. */
    int docBase();
  }

  /**
   * A segment that the executor searches.
   *
   * @param docs turns ordinals into documents of the segment, in the same order
   * @param terms shared by the items of all queries
   */
  record OwnLeaf(int docBase, IntUnaryOperator docs, WorkItem.Terms terms) implements Leaf {}

  /** A segment of another format, which is searched at once, one query at a time. */
  record OtherLeaf(int docBase, LeafSearch search) implements Leaf {}

  /** Searches one segment; ordinals are documents of the segment. */
  interface LeafSearch {
    WorkResult search(QueryVector query) throws IOException;
  }

  /**
   * Consecutive queries of a part.
   *
   * @param firstItem their first item; the items of a segment are consecutive
   * @param others results of segments of other formats by segment; null for the executor's
   */
  private record Gathered(
      List<? extends Leaf> leaves,
      int firstItem,
      WorkResult[][] others,
      TopDocs[] merged,
      int from,
      int to) {}

  /**
   * Returns how many more queries over some segments this batch takes, at least 1 if it is empty.
   */
  int room(int leaves, long mostQueries) {
    int byItems = (MAX_ITEMS - items.size()) / Math.max(1, leaves);
    long room = Math.min(byItems, mostQueries - queries);
    return (int) (queries == 0 ? Math.max(1, room) : Math.max(0, room));
  }

  /** Gathers {@code part[from..to)}; their hits will be in {@code merged[from..to)}. */
  void add(List<? extends Leaf> leaves, List<QueryVector> part, TopDocs[] merged, int from, int to)
      throws IOException {
    WorkResult[][] others = new WorkResult[leaves.size()][];
    int firstItem = items.size();
    for (int leaf = 0; leaf < others.length; leaf++) {
      if (leaves.get(leaf) instanceof OtherLeaf other) {
        others[leaf] = new WorkResult[to - from];
        for (int i = from; i < to; i++) {
          others[leaf][i - from] = other.search.search(part.get(i));
        }
      } else {
        WorkItem.Terms terms = ((OwnLeaf) leaves.get(leaf)).terms;
        for (QueryVector query : part.subList(from, to)) {
          items.add(new WorkItem(terms, query));
        }
      }
    }
    gathered.add(new Gathered(leaves, firstItem, others, merged, from, to));
    queries += to - from;
  }

  /** Searches what was gathered, merges the hits, and leaves this batch empty. */
  void finish() throws IOException {
    List<WorkResult> results = items.isEmpty() ? List.of() : searchItems.search(items);
    for (Gathered each : gathered) {
      WorkResult[] ofQuery = new WorkResult[each.leaves.size()];
      for (int query = 0; query < each.to - each.from; query++) {
        int item = each.firstItem + query;
        for (int leaf = 0; leaf < ofQuery.length; leaf++) {
          if (each.others[leaf] == null) {
            ofQuery[leaf] = complete(item, results.get(item));
            item += each.to - each.from;
          } else {
            ofQuery[leaf] = each.others[leaf][query];
          }
        }
        each.merged[each.from + query] = merge(each.leaves, ofQuery, k);
      }
    }
    items.clear();
    gathered.clear();
    queries = 0;
  }

  /** Scans the accepted vectors if the visit limit has ended a walk. */
  private WorkResult complete(int index, WorkResult result) throws IOException {
    if (result.complete()) {
      return result;
    }
    WorkItem item = items.get(index);
    if (item.cancelled().getAsBoolean()) {
      return result;
    }
    onRepeat.run();
    return CpuExecutor.scan(item.withoutVisitLimit());
  }

  /** Merges hits of segments, best first; equal scores by lower document. */
  private static TopDocs merge(List<? extends Leaf> leaves, WorkResult[] results, int k) {
    long visited = 0;
    int hits = 0;
    boolean complete = true;
    for (WorkResult result : results) {
      visited += result.visited();
      hits += result.ordinals().length;
      complete &= result.complete();
    }
    ScoreDoc[] merged = new ScoreDoc[Math.min(k, hits)];
    int[] next = new int[results.length];
    for (int i = 0; i < merged.length; i++) {
      int best = -1;
      float score = 0;
      for (int leaf = 0; leaf < next.length; leaf++) {
        float[] scores = results[leaf].scores();
        if (next[leaf] < scores.length && (best < 0 || scores[next[leaf]] > score)) {
          best = leaf;
          score = scores[next[leaf]];
        }
      }
      merged[i] =
          new ScoreDoc(doc(leaves.get(best), results[best].ordinals()[next[best]++]), score);
    }
    TotalHits.Relation relation =
        complete ? TotalHits.Relation.EQUAL_TO : TotalHits.Relation.GREATER_THAN_OR_EQUAL_TO;
    return new TopDocs(new TotalHits(visited, relation), merged);
  }

  private static int doc(Leaf leaf, int ordinal) {
    return leaf.docBase() + (leaf instanceof OwnLeaf own ? own.docs.applyAsInt(ordinal) : ordinal);
  }
}
