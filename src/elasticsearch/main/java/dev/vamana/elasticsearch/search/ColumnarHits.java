package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.Iterator;
import java.util.Objects;
import java.util.stream.IntStream;
import org.elasticsearch.common.collect.Iterators;
import org.elasticsearch.common.xcontent.ChunkedToXContentHelper;
import org.elasticsearch.xcontent.ToXContent;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * Hits as columns. The hits of query i are the entries from {@code ends[i - 1]}, or 0 for the first
 * query, up to {@code ends[i]}, best first.
 *
 * @param ends end of each query's hits
 * @param ids ids of the documents
 * @param scores scores of the documents
 * @param indices names of the indices; null if all hits are from one index
 * @param indexOf index of each document, as a position in {@code indices}; null if {@code indices}
 *     is null
 */
public record ColumnarHits(
    int[] ends, String[] ids, float[] scores, String[] indices, int[] indexOf)
    implements BatchHits {

  /** Queries per chunk of the answer. */
  private static final int QUERIES_A_CHUNK = 32;

  public ColumnarHits {
    Objects.requireNonNull(ends, "ends");
    int hits = ends.length == 0 ? 0 : ends[ends.length - 1];
    if (ids.length != hits || scores.length != hits) {
      throw new IllegalArgumentException("columns must have " + hits + " entries");
    }
  }

  @Override
  public int queries() {
    return ends.length;
  }

  @Override
  public Iterator<? extends ToXContent> toXContentChunked(ToXContent.Params params) {
    Iterator<ToXContent> columns =
        Iterators.concat(
            column("ids", (json, i) -> json.value(ids[i])),
            column("scores", (json, i) -> json.value(scores[i])));
    return indices == null
        ? columns
        : Iterators.concat(columns, column("_index", (json, i) -> json.value(indices[indexOf[i]])));
  }

  private Iterator<ToXContent> column(String name, Entry entry) {
    int chunks = (ends.length + QUERIES_A_CHUNK - 1) / QUERIES_A_CHUNK;
    return Iterators.concat(
        ChunkedToXContentHelper.startArray(name),
        Iterators.map(
            IntStream.range(0, chunks).iterator(),
            chunk -> (json, params) -> writeQueries(json, chunk * QUERIES_A_CHUNK, entry)),
        ChunkedToXContentHelper.endArray());
  }

  private XContentBuilder writeQueries(XContentBuilder json, int first, Entry entry)
      throws IOException {
    int i = first == 0 ? 0 : ends[first - 1];
    for (int query = first; query < Math.min(ends.length, first + QUERIES_A_CHUNK); query++) {
      json.startArray();
      for (; i < ends[query]; i++) {
        entry.write(json, i);
      }
      json.endArray();
    }
    return json;
  }

  @Override
  public void close() {}

  /** Writes one entry of a column. */
  @FunctionalInterface
  private interface Entry {
    void write(XContentBuilder json, int position) throws IOException;
  }
}
