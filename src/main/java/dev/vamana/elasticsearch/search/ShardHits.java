package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.search.ScoreDoc;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * The hits of all queries in one shard. The hits of query i are the entries from {@code ends[i -
 * 1]}, or 0 for the first query, up to {@code ends[i]}, best first.
 *
 * @param ends end of each query's hits
 * @param docs document of each hit in the shard's reader
 * @param scores score of each hit
 */
record ShardHits(int[] ends, int[] docs, float[] scores) implements Writeable {

  /** Memory of one hit in bytes. */
  static final int BYTES_A_HIT = Integer.BYTES + Float.BYTES;

  /** Makes an empty list of hits for each query. */
  static ShardHits none(int queries) {
    return new ShardHits(new int[queries], new int[0], new float[0]);
  }

  /** Collects hits of queries in any order. Several threads may add queries, each query once. */
  static final class Builder {
    private final int most;
    private final int[] counts;
    private final int[] docs;
    private final float[] scores;

    /**
     * Makes a builder with room for all hits.
     *
     * @param most most hits of a query
     */
    Builder(int queries, int most) {
      this.most = most;
      this.counts = new int[queries];
      this.docs = new int[Math.multiplyExact(queries, most)];
      this.scores = new float[docs.length];
    }

    /** Memory of a builder in bytes. */
    static long ramBytesUsed(int queries, int most) {
      return queries * ((long) most * BYTES_A_HIT + Integer.BYTES);
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
      return hits == docs.length ? 0 : hits * BYTES_A_HIT;
    }

    /** Concatenates the hits of all queries; the builder must not be used afterwards. */
    ShardHits build() {
      int end = 0;
      for (int query = 0; query < counts.length; query++) {
        System.arraycopy(docs, query * most, docs, end, counts[query]);
        System.arraycopy(scores, query * most, scores, end, counts[query]);
        end += counts[query];
        counts[query] = end;
      }
      boolean full = end == docs.length;
      return new ShardHits(
          counts,
          full ? docs : Arrays.copyOf(docs, end),
          full ? scores : Arrays.copyOf(scores, end));
    }
  }

  static ShardHits readFrom(StreamInput in) throws IOException {
    return new ShardHits(in.readVIntArray(), in.readVIntArray(), in.readFloatArray());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeVIntArray(ends);
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

  /** The documents of all hits, ascending and distinct. */
  int[] distinctDocs() {
    return DistinctDocs.of(docs, docs.length).docs();
  }
}
