package dev.vamana.elasticsearch.batch;

import java.util.List;

/**
 * The best hits of each query over all shards: those of query i are the entries from {@code ends[i
 * - 1]}, or 0, up to {@code ends[i]}, best first. Equal scores are ordered by shard, then by
 * document, as in a search.
 *
 * @param ends where the hits of each query end
 * @param shards the shard of each hit, a position in the list that was merged
 * @param docs documents of their shards' readers
 * @param scores their scores
 */
record MergedHits(int[] ends, int[] shards, int[] docs, float[] scores) {

  /** A hit's shard, document and score, and its document in the lists of distinct ones. */
  private static final int BYTES_A_HIT = 5 * Integer.BYTES;

  /**
   * Most bytes of memory that merging takes and its result has, with the documents of each shard.
   *
   * @param hits hits of all shards
   * @param queries how many queries there are
   * @param k most hits of a query
   */
  static long ramBytesUsed(long hits, int queries, int k) {
    return Math.min(hits, (long) queries * k) * BYTES_A_HIT + (long) queries * Integer.BYTES;
  }

  /**
   * Merges the hits of shards.
   *
   * @param hits those of each shard; null for shards that have none to give
   * @param queries how many queries there are
   * @param k most hits of a query
   */
  static MergedHits of(List<ShardHits> hits, int queries, int k) {
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
    int[] next = new int[hits.size()];
    for (int query = 0; query < queries; query++) {
      merged.fill(query, hits, next);
    }
    return merged;
  }

  /**
   * Takes the best hit that is left, again and again.
   *
   * @param next scratch memory, one position a shard
   */
  private void fill(int query, List<ShardHits> hits, int[] next) {
    for (int shard = 0; shard < next.length; shard++) {
      next[shard] = hits.get(shard) == null ? 0 : hits.get(shard).start(query);
    }
    for (int i = start(query); i < ends[query]; i++) {
      int best = -1;
      for (int shard = 0; shard < next.length; shard++) {
        ShardHits candidates = hits.get(shard);
        if (candidates != null
            && next[shard] < candidates.ends()[query]
            && (best < 0
                || candidates.scores()[next[shard]] > hits.get(best).scores()[next[best]])) {
          best = shard;
        }
      }
      shards[i] = best;
      docs[i] = hits.get(best).docs()[next[best]];
      scores[i] = hits.get(best).scores()[next[best]++];
    }
  }

  /** Where the hits of a query start. */
  int start(int query) {
    return query == 0 ? 0 : ends[query - 1];
  }

  /** The documents of a shard that are hits, in ascending order, each once. */
  int[] distinctDocs(int shard) {
    int total = 0;
    for (int of : shards) {
      total += of == shard ? 1 : 0;
    }
    int[] own = new int[total];
    int count = 0;
    for (int i = 0; i < docs.length; i++) {
      if (shards[i] == shard) {
        own[count++] = docs[i];
      }
    }
    return ShardHits.distinct(own, count);
  }
}
