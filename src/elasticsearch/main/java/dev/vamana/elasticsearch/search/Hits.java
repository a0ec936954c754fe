package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.lucene.search.ScoreDoc;
import org.elasticsearch.common.breaker.CircuitBreakingException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * The best hits of each query in one or more shards. The hits of query i are the entries from
 * {@code ends[i - 1]}, or 0 for the first query, up to {@code ends[i]}, best first. Equal scores
 * are ordered by shard, then by document, as in a search.
 *
 * @param ends end of each query's hits
 * @param shards {@link ShardTarget#number} of each hit's shard
 * @param docs document of each hit in its shard's reader
 * @param scores score of each hit
 */
record Hits(int[] ends, int[] shards, int[] docs, float[] scores) implements Writeable {

  private static final int BYTES_A_HIT = 2 * Integer.BYTES + Float.BYTES;

  /** Makes an empty list of hits for each query. */
  static Hits none(int queries) {
    return new Hits(new int[queries], new int[0], new int[0], new float[0]);
  }

  /**
   * Collects the hits of queries in one shard. Several threads may add queries in any order, each
   * query once.
   */
  static final class Builder {
    private final int shard;
    private final int most;
    private final int[] counts;
    private final int[] docs;
    private final float[] scores;

    /**
     * Makes a builder with room for all hits.
     *
     * @param shard number of the shard
     * @param most most hits of a query
     */
    Builder(int shard, int queries, int most) {
      this.shard = shard;
      this.most = most;
      this.counts = new int[queries];
      this.docs = new int[Math.multiplyExact(queries, most)];
      this.scores = new float[docs.length];
    }

    /** Memory of a builder in bytes. */
    static long ramBytesUsed(int queries, int most) {
      return queries * ((long) most * (Integer.BYTES + Float.BYTES) + Integer.BYTES);
    }

    /** Adds the hits of a query, best first. */
    void add(int query, ScoreDoc[] hits) {
      int next = query * most;
      counts[query] = hits.length;
      for (ScoreDoc hit : hits) {
        docs[next] = hit.doc;
        scores[next++] = hit.score;
      }
    }

    /** Memory that {@link #build} takes in addition to the builder, in bytes. */
    long buildBytes() {
      long hits = Arrays.stream(counts).asLongStream().sum();
      return hits * (hits == docs.length ? Integer.BYTES : BYTES_A_HIT);
    }

    /** Concatenates the hits of all queries; the builder must not be used afterwards. */
    Hits build() {
      int end = 0;
      for (int query = 0; query < counts.length; query++) {
        System.arraycopy(docs, query * most, docs, end, counts[query]);
        System.arraycopy(scores, query * most, scores, end, counts[query]);
        end += counts[query];
        counts[query] = end;
      }
      boolean full = end == docs.length;
      int[] shards = new int[end];
      Arrays.fill(shards, shard);
      return new Hits(
          counts,
          shards,
          full ? docs : Arrays.copyOf(docs, end),
          full ? scores : Arrays.copyOf(scores, end));
    }
  }

  static Hits readFrom(StreamInput in) throws IOException {
    return new Hits(
        in.readVIntArray(), in.readVIntArray(), in.readVIntArray(), in.readFloatArray());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeVIntArray(ends);
    out.writeVIntArray(shards);
    out.writeVIntArray(docs);
    out.writeFloatArray(scores);
  }

  /** Memory of all hits in bytes. */
  long ramBytesUsed() {
    return (long) docs.length * BYTES_A_HIT + (long) ends.length * Integer.BYTES;
  }

  /** Start of a query's hits. */
  int start(int query) {
    return query == 0 ? 0 : ends[query - 1];
  }

  /** The hits of a query. */
  ScoreDoc[] of(int query) {
    int start = start(query);
    ScoreDoc[] hits = new ScoreDoc[ends[query] - start];
    for (int i = 0; i < hits.length; i++) {
      hits[i] = new ScoreDoc(docs[start + i], scores[start + i]);
    }
    return hits;
  }

  /**
   * Adds the hits of further shards to those so far. Several threads may add hits at the same time;
   * each merges on its own. If an addition fails, hits so far may be missing.
   *
   * @param merged the hits so far, null at first
   * @param found hits of shards that were not added yet; they have been charged
   * @param k most hits of a query
   * @param charge counts the memory of the hits so far
   * @param check run before each query; ends the merge with what it throws
   * @throws CircuitBreakingException if there is not enough memory
   */
  static void add(
      AtomicReference<Hits> merged, Hits found, int k, BreakerCharge charge, Runnable check) {
    Hits own = found;
    while (merged.compareAndSet(null, own) == false) {
      Hits other = merged.getAndSet(null);
      if (other != null) {
        int[] ends = own.endsWith(other, k);
        long bytes =
            (long) ends.length * Integer.BYTES + (long) ends[ends.length - 1] * BYTES_A_HIT;
        charge.add(bytes);
        Hits both = own.with(other, ends, check);
        charge.release(own.ramBytesUsed() + other.ramBytesUsed());
        own = both;
      }
    }
  }

  private int[] endsWith(Hits other, int k) {
    int[] both = new int[ends.length];
    int end = 0;
    for (int query = 0; query < both.length; query++) {
      int found = ends[query] - start(query) + other.ends[query] - other.start(query);
      end += Math.min(k, found);
      both[query] = end;
    }
    return both;
  }

  private Hits with(Hits other, int[] bothEnds, Runnable check) {
    int count = bothEnds[bothEnds.length - 1];
    Hits both = new Hits(bothEnds, new int[count], new int[count], new float[count]);
    int to = 0;
    for (int query = 0; query < bothEnds.length; query++) {
      check.run();
      int own = start(query);
      int others = other.start(query);
      for (; to < bothEnds[query]; to++) {
        if (others == other.ends[query] || (own < ends[query] && isBefore(own, other, others))) {
          copy(own++, both, to);
        } else {
          other.copy(others++, both, to);
        }
      }
    }
    return both;
  }

  private boolean isBefore(int own, Hits other, int others) {
    return scores[own] > other.scores[others]
        || (scores[own] == other.scores[others] && shards[own] < other.shards[others]);
  }

  private void copy(int from, Hits target, int to) {
    target.shards[to] = shards[from];
    target.docs[to] = docs[from];
    target.scores[to] = scores[from];
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
