package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.search.BatchHits;
import dev.vamana.elasticsearch.search.BatchSearchRequest;
import dev.vamana.elasticsearch.search.BatchSearchResponse;
import dev.vamana.elasticsearch.search.ColumnarHits;
import dev.vamana.elasticsearch.search.DocIds;
import dev.vamana.elasticsearch.search.StandardHits;
import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import org.apache.lucene.search.TotalHits;
import org.elasticsearch.common.bytes.BytesArray;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.common.io.stream.BytesStreamOutput;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.Index;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.SearchHits;
import org.elasticsearch.search.SearchShardTarget;
import org.elasticsearch.xcontent.ToXContent;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentType;

/**
 * Prints what one vector of a batch costs one core before it is searched for and after: reading it
 * from a body in every form, and writing its hits. docs/internals/benchmarking.md has the command.
 */
public final class BodyCost {
  private static final int REPEATS = 100;

  private final PrintStream out;
  private final int count;
  private final int dims;
  private final int k;
  private final Random random = new Random(20260901);

  private BodyCost(PrintStream out, int count, int dims, int k) {
    this.out = out;
    this.count = count;
    this.dims = dims;
    this.k = k;
  }

  /**
   * Measures.
   *
   * @param arguments vectors of a body, their dimension, and hits of a vector; 1000, 128 and 10 if
   *     none are given
   */
  public static void main(String[] arguments) throws IOException {
    ServerClasses.ready();
    int[] sizes = {1000, 128, 10};
    for (int i = 0; i < arguments.length; i++) {
      sizes[i] = Integer.parseInt(arguments[i]);
    }
    new BodyCost(System.out, sizes[0], sizes[1], sizes[2]).run();
  }

  private void run() throws IOException {
    float[][] vectors = new float[count][dims];
    float[][] whole = new float[count][dims];
    for (int i = 0; i < count; i++) {
      for (int d = 0; d < dims; d++) {
        vectors[i][d] = random.nextFloat() * 2 - 1;
        whole[i][d] = random.nextInt(256);
      }
    }
    String[] rows = new String[count];
    for (int i = 0; i < count; i++) {
      rows[i] = Bodies.base64(vectors[i]);
    }
    Map<String, Body> bodies = new LinkedHashMap<>();
    bodies.put("JSON, arrays of fractions", body(XContentType.JSON, vectors));
    bodies.put("JSON, arrays of whole numbers", body(XContentType.JSON, whole));
    bodies.put("JSON, base64 strings", body(XContentType.JSON, rows));
    bodies.put("JSON, one base64 string", body(XContentType.JSON, Bodies.base64(vectors)));
    bodies.put("CBOR, arrays of fractions", body(XContentType.CBOR, vectors));
    bodies.put(
        "CBOR, one binary value",
        body(XContentType.CBOR, Bodies.bytes(ByteOrder.BIG_ENDIAN, vectors)));
    bodies.put(
        "SMILE, one binary value",
        body(XContentType.SMILE, Bodies.bytes(ByteOrder.BIG_ENDIAN, vectors)));
    out.printf(Locale.ROOT, "%d vectors of %d dimensions, %d hits each%n", count, dims, k);
    for (Map.Entry<String, Body> body : bodies.entrySet()) {
      Body parsed = body.getValue();
      report("read " + body.getKey(), parsed.bytes().length(), () -> parsed.parse().vectors());
    }
    for (XContentType type : List.of(XContentType.JSON, XContentType.CBOR, XContentType.SMILE)) {
      write(type, "columns", columns());
      write(type, "hits", hits());
    }
  }

  private record Body(XContentType type, BytesArray bytes) {
    BatchSearchRequest parse() throws IOException {
      return Bodies.parse(type, bytes);
    }
  }

  private Body body(XContentType type, Object vectors) throws IOException {
    try (XContentBuilder json = XContentBuilder.builder(type.xContent())) {
      json.startObject().field("field", "v").field("dims", dims);
      json.field("query_vectors", vectors).endObject();
      return new Body(type, new BytesArray(BytesReference.toBytes(BytesReference.bytes(json))));
    }
  }

  private void write(XContentType type, String name, BatchHits hits) throws IOException {
    BatchSearchResponse response =
        new BatchSearchResponse(
            TimeValue.ZERO, false, new BatchSearchResponse.Shards(1, 1, 0), hits, () -> {});
    long bytes = written(type, response);
    report("write " + type + ", " + name, bytes, () -> written(type, response));
  }

  private static long written(XContentType type, BatchSearchResponse response) throws IOException {
    try (BytesStreamOutput bytes = new BytesStreamOutput(1 << 20);
        XContentBuilder json = new XContentBuilder(type.xContent(), bytes)) {
      var chunks = response.toXContentChunked(ToXContent.EMPTY_PARAMS);
      while (chunks.hasNext()) {
        chunks.next().toXContent(json, ToXContent.EMPTY_PARAMS);
      }
      json.flush();
      return bytes.size();
    }
  }

  private ColumnarHits columns() {
    int[] ends = new int[count];
    String[] ids = new String[count * k];
    int[] idOf = new int[count * k];
    float[] scores = new float[count * k];
    for (int i = 0; i < count * k; i++) {
      ends[i / k] = i + 1;
      ids[i] = Integer.toString(random.nextInt(1_000_000));
      idOf[i] = i;
      scores[i] = random.nextFloat();
    }
    return new ColumnarHits(ends, DocIds.of(ids), idOf, scores, null, null);
  }

  private StandardHits hits() {
    SearchShardTarget shard =
        new SearchShardTarget("node", new ShardId(new Index("photos", "uuid"), 0), null);
    List<SearchHits> responses = new ArrayList<>();
    for (int query = 0; query < count; query++) {
      SearchHit[] hits = new SearchHit[k];
      for (int i = 0; i < k; i++) {
        hits[i] = new SearchHit(i, Integer.toString(random.nextInt(1_000_000)));
        hits[i].score(random.nextFloat());
        hits[i].shard(shard);
      }
      responses.add(
          new SearchHits(hits, new TotalHits(k, TotalHits.Relation.EQUAL_TO), hits[0].getScore()));
    }
    return new StandardHits(responses);
  }

  @FunctionalInterface
  private interface Work {
    Object run() throws IOException;
  }

  private void report(String what, long bytes, Work work) throws IOException {
    ThreadMXBean threads = ManagementFactory.getThreadMXBean();
    long best = Long.MAX_VALUE;
    for (int i = 0; i < REPEATS; i++) {
      long start = threads.getCurrentThreadCpuTime();
      if (work.run() == null) {
        throw new IllegalStateException("nothing came of " + what);
      }
      best = Math.min(best, threads.getCurrentThreadCpuTime() - start);
    }
    out.printf(
        Locale.ROOT,
        "%-40s %8.2f us a vector, %7.1f bytes a vector%n",
        what,
        best / 1e3 / count,
        (double) bytes / count);
  }
}
