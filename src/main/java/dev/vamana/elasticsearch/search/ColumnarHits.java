package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.Iterator;
import java.util.Objects;
import java.util.stream.IntStream;
import org.elasticsearch.common.collect.Iterators;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.xcontent.ChunkedToXContentHelper;
import org.elasticsearch.xcontent.ToXContent;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentType;

/**
 * Hits as columns. The hits of query i are the entries from {@code ends[i - 1]}, or 0 for the first
 * query, up to {@code ends[i]}, best first.
 *
 * @param ends end of each query's hits
 * @param ids ids of documents
 * @param idOf id of each document, as a position in {@code ids}
 * @param scores scores of the documents
 * @param indices names of the indices; null if all hits are from one index
 * @param indexOf index of each document, as a position in {@code indices}; null if {@code indices}
 *     is null
 */
public record ColumnarHits(
    int[] ends, DocIds ids, int[] idOf, float[] scores, String[] indices, int[] indexOf)
    implements BatchHits {

  /** Queries per chunk of the JSON answer. */
  private static final int QUERIES_A_CHUNK = 32;

  /** Expected bytes of an entry as JSON. */
  private static final int BYTES_AN_ENTRY = 16;

  public ColumnarHits {
    Objects.requireNonNull(ends, "ends");
    int hits = ends.length == 0 ? 0 : ends[ends.length - 1];
    if (idOf.length != hits || scores.length != hits) {
      throw new IllegalArgumentException("columns must have " + hits + " entries");
    }
  }

  static ColumnarHits readFrom(StreamInput in) throws IOException {
    return new ColumnarHits(
        in.readVIntArray(),
        DocIds.readFrom(in),
        in.readVIntArray(),
        in.readFloatArray(),
        in.readOptionalStringArray(),
        in.readBoolean() ? in.readVIntArray() : null);
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeVIntArray(ends);
    ids.writeTo(out);
    out.writeVIntArray(idOf);
    out.writeFloatArray(scores);
    out.writeOptionalStringArray(indices);
    out.writeBoolean(indexOf != null);
    if (indexOf != null) {
      out.writeVIntArray(indexOf);
    }
  }

  /** The id of a hit's document. */
  public String id(int hit) {
    return ids.get(idOf[hit]);
  }

  @Override
  public int queries() {
    return ends.length;
  }

  @Override
  public Iterator<? extends ToXContent> toXContentChunked(ToXContent.Params params) {
    Iterator<ToXContent> columns =
        Iterators.concat(
            column("ids", (json, i) -> json.value(id(i)), (text, i) -> ids.addTo(text, idOf[i])),
            column("scores", (json, i) -> json.value(scores[i]), (text, i) -> text.add(scores[i])));
    return indices == null
        ? columns
        : Iterators.concat(
            columns,
            column(
                "_index",
                (json, i) -> json.value(indices[indexOf[i]]),
                (text, i) -> text.add(indices[indexOf[i]])));
  }

  private Iterator<ToXContent> column(String name, Entry entry, TextEntry textEntry) {
    int chunks = (ends.length + QUERIES_A_CHUNK - 1) / QUERIES_A_CHUNK;
    return Iterators.concat(
        ChunkedToXContentHelper.startArray(name),
        Iterators.map(
            IntStream.range(0, chunks).iterator(),
            chunk ->
                (json, params) -> writeQueries(json, chunk * QUERIES_A_CHUNK, entry, textEntry)),
        ChunkedToXContentHelper.endArray());
  }

  private XContentBuilder writeQueries(
      XContentBuilder json, int first, Entry entry, TextEntry textEntry) throws IOException {
    int end = Math.min(ends.length, first + QUERIES_A_CHUNK);
    int start = first == 0 ? 0 : ends[first - 1];
    if (isPlainJson(json)) {
      String text = text(first, end, start, textEntry);
      if (text != null) {
        return json.rawValue(text);
      }
    }
    int i = start;
    for (int query = first; query < end; query++) {
      json.startArray();
      for (; i < ends[query]; i++) {
        entry.write(json, i);
      }
      json.endArray();
    }
    return json;
  }

  private static boolean isPlainJson(XContentBuilder json) {
    return json.contentType().canonical() == XContentType.JSON
        && json.generator().isPrettyPrint() == false;
  }

  /** Returns rows as JSON, or null if an entry cannot be written as it is. */
  private String text(int first, int end, int start, TextEntry entry) {
    ColumnText text = new ColumnText((ends[end - 1] - start) * BYTES_AN_ENTRY + (end - first) * 4);
    int i = start;
    for (int query = first; query < end; query++) {
      text.beginRow();
      for (; i < ends[query]; i++) {
        if (entry.write(text, i) == false) {
          return null;
        }
      }
      text.endRow();
    }
    return text.toString();
  }

  @Override
  public void close() {}

  /** Adds one entry of a column to a text; returns false if it does not fit there. */
  @FunctionalInterface
  private interface TextEntry {
    boolean write(ColumnText text, int position);
  }

  /** Writes one entry of a column. */
  @FunctionalInterface
  private interface Entry {
    void write(XContentBuilder json, int position) throws IOException;
  }
}
