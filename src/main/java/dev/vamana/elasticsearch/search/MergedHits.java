package dev.vamana.elasticsearch.search;

import java.util.Arrays;
import java.util.List;

/**
 * The best hits of each query over all shards. The hits of query i are the entries from {@code
 * ends[i - 1]}, or 0 for the first query, up to {@code ends[i]}, best first. Equal scores are
 * ordered by shard, then by document, as in a search.
 *
 * @param ends end of each query's hits
 * @param shards shard of each hit, as a position in the merged list
 * @param docs document of each hit in its shard's reader
 * @param scores score of each hit
 */
record MergedHits(int[] ends, int[] shards, int[] docs, float[] scores) {

  /** Bytes of a hit: its shard, document and score, and its document among those of its shard. */
  private static final int BYTES_A_HIT = 4 * Integer.BYTES;

  /**
   * Returns the most bytes of a merge, its result and the distinct documents of each shard.
   *
   * @param hits hits of all shards
   * @param queries number of queries
   * @param k most hits of a query
   */
  static long ramBytesUsed(long hits, int queries, int k) {
    long merged = Math.min(hits, (long) queries * k);
    return merged * BYTES_A_HIT
        + DistinctDocs.ramBytesUsed(merged)
        + (long) queries * Integer.BYTES;
  }

  /**
   * Merges the hits of shards.
   *
   * @param hits hits of each shard; null for shards without hits
   * @param queries number of queries
   * @param k most hits per query
   * @param check run before each query; ends the merge with what it throws
   */
  static MergedHits of(List<ShardHits> hits, int queries, int k, Runnable check) {
    int[] ends = new int[queries];
    int total = 0;
    for (int query = 0; query < queries; query++) {
      int found = 0;
      for (ShardHits shard : hits) {
        found += shard == null ? 0 : shard.ends()[query] - shard.start(query);
      }
      total += Math.min(k, found);
      ends[query] = total;
    }
    MergedHits merged = new MergedHits(ends, new int[total], new int[total], new float[total]);
    Heads heads = new Heads(hits);
    for (int query = 0; query < queries; query++) {
      check.run();
      heads.ofQuery(query);
      for (int i = merged.start(query); i < ends[query]; i++) {
        heads.take(merged, i);
      }
    }
    return merged;
  }

  /** The best remaining hit of each shard, as a heap of shards: the best of all comes first. */
  private static final class Heads {
    private final ShardHits[] hits;
    private final int[] next;
    private final int[] end;
    private final int[] heap;
    private int size;

    Heads(List<ShardHits> hits) {
      this.hits = hits.toArray(ShardHits[]::new);
      this.next = new int[hits.size()];
      this.end = new int[hits.size()];
      this.heap = new int[hits.size()];
    }

    /** Goes on to the hits of a query. */
    void ofQuery(int query) {
      size = 0;
      for (int shard = 0; shard < hits.length; shard++) {
        if (hits[shard] != null) {
          next[shard] = hits[shard].start(query);
          end[shard] = hits[shard].ends()[query];
          if (next[shard] < end[shard]) {
            heap[size++] = shard;
          }
        }
      }
      for (int at = size / 2 - 1; at >= 0; at--) {
        sink(at);
      }
    }

    /** Takes the best hit. */
    void take(MergedHits merged, int i) {
      int shard = heap[0];
      int hit = next[shard]++;
      merged.shards[i] = shard;
      merged.docs[i] = hits[shard].docs()[hit];
      merged.scores[i] = hits[shard].scores()[hit];
      if (next[shard] == end[shard]) {
        heap[0] = heap[--size];
      }
      sink(0);
    }

    private void sink(int from) {
      int at = from;
      int shard = heap[at];
      for (int child = 2 * at + 1; child < size; child = 2 * at + 1) {
        if (child + 1 < size && isBefore(heap[child + 1], heap[child])) {
          child++;
        }
        if (isBefore(shard, heap[child])) {
          break;
        }
        heap[at] = heap[child];
        at = child;
      }
      heap[at] = shard;
    }

    private boolean isBefore(int shard, int other) {
      float score = hits[shard].scores()[next[shard]];
      float than = hits[other].scores()[next[other]];
      return score > than || (score == than && shard < other);
    }
  }

  /** Start of a query's hits. */
  int start(int query) {
    return query == 0 ? 0 : ends[query - 1];
  }

  /**
   * The documents of each shard that are hits, ascending and distinct.
   *
   * @param count number of shards
   */
  List<DistinctDocs> distinctDocs(int count) {
    int[] hitsOf = new int[count];
    for (int shard : shards) {
      hitsOf[shard]++;
    }
    int[][] own = new int[count][];
    for (int shard = 0; shard < count; shard++) {
      own[shard] = new int[hitsOf[shard]];
    }
    for (int i = 0; i < docs.length; i++) {
      own[shards[i]][--hitsOf[shards[i]]] = docs[i];
    }
    return Arrays.stream(own).map(of -> DistinctDocs.of(of, of.length)).toList();
  }
}
