package dev.vamana.elasticsearch.batch;

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

  /** Concatenates the hits of all queries. */
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

  /** Start of a query's hits. */
  int start(int query) {
    return query == 0 ? 0 : ends[query - 1];
  }

  /** The documents of all hits, ascending and distinct. */
  int[] distinctDocs() {
    return distinct(docs.clone(), docs.length);
  }

  /**
   * Sorts documents and removes duplicates.
   *
   * @param docs the documents; the array is changed
   * @param count number of documents in the array
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
