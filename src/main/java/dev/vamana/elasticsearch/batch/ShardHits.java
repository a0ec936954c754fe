package dev.vamana.elasticsearch.batch;

import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.search.ScoreDoc;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * The hits of all queries in one shard: those of query i are the entries from {@code ends[i - 1]},
 * or 0, up to {@code ends[i]}, best first.
 *
 * @param ends where the hits of each query end
 * @param docs documents of the shard's reader
 * @param scores their scores
 */
record ShardHits(int[] ends, int[] docs, float[] scores) implements Writeable {

  /** Bytes of memory of one hit. */
  static final int BYTES_A_HIT = Integer.BYTES + Float.BYTES;

  /** Puts the hits of each query one after the other. */
  static ShardHits of(ScoreDoc[][] hits) {
    int[] ends = new int[hits.length];
    int count = 0;
    for (int query = 0; query < hits.length; query++) {
      count += hits[query].length;
      ends[query] = count;
    }
    int[] docs = new int[count];
    float[] scores = new float[count];
    int next = 0;
    for (ScoreDoc[] hitsOfQuery : hits) {
      for (ScoreDoc hit : hitsOfQuery) {
        docs[next] = hit.doc;
        scores[next++] = hit.score;
      }
    }
    return new ShardHits(ends, docs, scores);
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

  /** Where the hits of a query start. */
  int start(int query) {
    return query == 0 ? 0 : ends[query - 1];
  }

  /** All documents that are hits, in ascending order, each once. */
  int[] distinctDocs() {
    return distinct(docs.clone(), docs.length);
  }

  /**
   * Sorts documents and leaves each once.
   *
   * @param docs changed
   * @param count how many of them there are
   */
  static int[] distinct(int[] docs, int count) {
    Arrays.sort(docs, 0, count);
    int kept = 0;
    for (int i = 0; i < count; i++) {
      if (kept == 0 || docs[kept - 1] != docs[i]) {
        docs[kept++] = docs[i];
      }
    }
    return Arrays.copyOf(docs, kept);
  }
}
