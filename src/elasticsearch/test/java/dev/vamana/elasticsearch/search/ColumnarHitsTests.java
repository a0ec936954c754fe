package dev.vamana.elasticsearch.search;

import static org.junit.Assert.assertEquals;

import com.carrotsearch.randomizedtesting.RandomizedTest;
import dev.vamana.elasticsearch.ServerClasses;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.common.io.stream.BytesStreamOutput;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.ToXContent;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentType;
import org.junit.BeforeClass;
import org.junit.Test;

/** Rows that are written as text equal rows that a generator writes. */
public class ColumnarHitsTests extends RandomizedTest {

  private final List<List<String>> ids = new ArrayList<>();
  private final List<List<Float>> scores = new ArrayList<>();
  private final List<List<String>> names = new ArrayList<>();

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  /** Makes hits of 0 to 100 queries, and notes them. */
  private ColumnarHits hits(boolean plain, boolean severalIndices) {
    int distinct = 1 + getRandom().nextInt(50);
    String[] all =
        IntStream.range(0, distinct)
            .mapToObj(i -> plain ? Integer.toString(i) : randomUnicodeOfCodepointLength(5) + i)
            .toArray(String[]::new);
    String[] indices = {"photos", plain ? "texts" : "t\u00e9xts"};
    int[] ends = new int[getRandom().nextInt(100)];
    List<Integer> idOf = new ArrayList<>();
    List<Float> scoreOf = new ArrayList<>();
    List<Integer> indexOf = new ArrayList<>();
    for (int query = 0; query < ends.length; query++) {
      ids.add(new ArrayList<>());
      scores.add(new ArrayList<>());
      names.add(new ArrayList<>());
      for (int hit = getRandom().nextInt(4); hit > 0; hit--) {
        int id = getRandom().nextInt(distinct);
        int index = getRandom().nextInt(indices.length);
        float score =
            getRandom().nextBoolean() ? getRandom().nextFloat() : 1f / getRandom().nextInt(1 << 20);
        float finite = Float.isFinite(score) ? score : 1;
        idOf.add(id);
        indexOf.add(index);
        scoreOf.add(finite);
        ids.get(query).add(all[id]);
        scores.get(query).add(finite);
        names.get(query).add(indices[index]);
      }
      ends[query] = idOf.size();
    }
    float[] floats = new float[scoreOf.size()];
    for (int i = 0; i < floats.length; i++) {
      floats[i] = scoreOf.get(i);
    }
    return new ColumnarHits(
        ends,
        idOf.stream().map(id -> all[id]).toArray(String[]::new),
        floats,
        severalIndices ? indices : null,
        severalIndices ? indexOf.stream().mapToInt(Integer::intValue).toArray() : null);
  }

  private static Map<String, Object> written(
      ColumnarHits hits, XContentType type, Set<String> includes, boolean pretty)
      throws IOException {
    try (BytesStreamOutput out = new BytesStreamOutput();
        XContentBuilder json = new XContentBuilder(type, out, includes)) {
      if (pretty) {
        json.prettyPrint();
      }
      json.startObject();
      var chunks = hits.toXContentChunked(ToXContent.EMPTY_PARAMS);
      while (chunks.hasNext()) {
        chunks.next().toXContent(json, ToXContent.EMPTY_PARAMS);
      }
      json.endObject();
      json.close();
      BytesReference bytes = out.bytes();
      return XContentHelper.convertToMap(bytes, true, type).v2();
    }
  }

  private static List<List<Float>> floats(Object column) {
    List<List<Float>> floats = new ArrayList<>();
    for (Object row : (List<?>) column) {
      floats.add(((List<?>) row).stream().map(value -> ((Number) value).floatValue()).toList());
    }
    return floats;
  }

  @Test
  public void testForms() throws IOException {
    boolean several = randomBoolean();
    ColumnarHits hits = hits(randomBoolean(), several);
    for (XContentType type : List.of(XContentType.JSON, XContentType.CBOR, XContentType.SMILE)) {
      for (boolean pretty : new boolean[] {false, true}) {
        Map<String, Object> answer = written(hits, type, Set.of(), pretty);
        assertEquals(
            several ? Set.of("ids", "scores", "_index") : Set.of("ids", "scores"), answer.keySet());
        assertEquals(ids, answer.get("ids"));
        assertEquals(scores, floats(answer.get("scores")));
        if (several) {
          assertEquals(names, answer.get("_index"));
        }
      }
    }
  }

  @Test
  public void testScoresThatAreNotFinite() throws IOException {
    ColumnarHits hits =
        new ColumnarHits(
            new int[] {2}, new String[] {"7", "7"}, new float[] {Float.NaN, 0.25f}, null, null);
    assertEquals(
        List.of(List.of("NaN", 0.25)),
        written(hits, XContentType.JSON, Set.of(), false).get("scores"));
  }
}
