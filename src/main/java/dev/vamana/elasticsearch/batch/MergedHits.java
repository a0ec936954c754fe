package dev.vamana.elasticsearch.batch;

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
   * Fills in the hits of one query by taking the best remaining hit repeatedly.
   *
   * @param next scratch memory, one position per shard
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

  /** Start of a query's hits. */
  int start(int query) {
    return query == 0 ? 0 : ends[query - 1];
  }

  /** The documents of a shard that are hits, ascending and distinct. */
  DistinctDocs distinctDocs(int shard) {
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
    return DistinctDocs.of(own, count);
  }
}
