package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.search.BatchSearchRequest;
import dev.vamana.elasticsearch.search.QueryVectors;
import java.io.IOException;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.ExceptionsHelper;
import org.elasticsearch.common.bytes.BytesArray;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.index.query.BoolQueryBuilder;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.index.query.TermQueryBuilder;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.search.fetch.subphase.FieldAndFormat;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentType;
import org.junit.BeforeClass;

public class BatchBodyParserTests extends LuceneTestCase {
  private static final List<XContentType> FORMS =
      List.of(XContentType.JSON, XContentType.CBOR, XContentType.SMILE, XContentType.YAML);

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  public void testEveryKeyIsRead() throws IOException {
    BatchSearchRequest request =
        Bodies.parse(
            """
            {"field": "v", "query_vectors": [[1, 2.5], [-3e-2, 4]], "k": 7,
             "num_candidates": 70, "similarity": 0.25, "format": "hits",
             "filters": [{"term": {"year": 2020}}, null], "_source": ["title"],
             "fields": ["year", {"field": "day", "format": "epoch_millis"}]}
            """);
    assertArrayEquals(new String[] {"i"}, request.indices());
    assertEquals("v", request.field());
    assertArrayEquals(new float[][] {{1, 2.5f}, {-0.03f, 4}}, request.vectors().floats());
    assertEquals(7, request.k());
    assertEquals(70, request.numCandidates());
    assertEquals(0.25f, request.similarity(), 0);
    assertEquals(Arrays.asList(new TermQueryBuilder("year", 2020), null), request.filters());
    assertArrayEquals(new String[] {"title"}, request.fetch().source().includes());
    assertEquals(
        List.of(new FieldAndFormat("year", null), new FieldAndFormat("day", "epoch_millis")),
        request.fetch().fields());
    assertFalse(request.fetch().idsOnly());
    assertNull(request.validate());
  }

  /** As in the {@code knn} section of a search, filters of an array must all match. */
  public void testFiltersThatMustAllMatch() throws IOException {
    TermQueryBuilder year = new TermQueryBuilder("year", 1);
    TermQueryBuilder place = new TermQueryBuilder("place", "a");
    assertEquals(
        List.of(new BoolQueryBuilder().filter(year).filter(place)), filters(year + "," + place));
    assertEquals(List.of(), filters(""));
  }

  private static List<QueryBuilder> filters(String queries) throws IOException {
    return Bodies.parse(
            "{\"filter\": [" + queries + "], \"query_vectors\": [[1], [2]], \"field\": \"v\"}")
        .filters();
  }

  /** Vectors in base64 are passed on as bytes; the shards check them. */
  public void testAllFormsOfVectorsAreRead() throws IOException {
    for (XContentType form : FORMS) {
      float[][] vectors = randomVectors(1 + random().nextInt(40), 1 + random().nextInt(300));
      assertArrayEquals(
          vectors, vectors(form, json -> json.field("query_vectors", vectors)).floats());
      byte[][] bytes = Arrays.stream(vectors).map(Bodies::bytes).toArray(byte[][]::new);
      assertArrayEquals(
          bytes,
          vectors(
                  form,
                  json ->
                      json.array(
                          "query_vectors",
                          Arrays.stream(vectors).map(Bodies::base64).toArray(String[]::new)))
              .bytes());
      assertArrayEquals(
          bytes,
          vectors(
                  form,
                  json -> {
                    json.startArray("query_vectors");
                    for (byte[] vector : bytes) {
                      json.value(vector);
                    }
                    json.endArray();
                  })
              .bytes());
    }
  }

  public void testTheMostVectorsAreTaken() throws IOException {
    String zeros = String.join(",", Collections.nCopies(BatchSearchRequest.MAX_VECTORS, "[0]"));
    String body = "{\"field\": \"v\", \"query_vectors\": [%s]}";
    assertEquals(
        BatchSearchRequest.MAX_VECTORS, Bodies.parse(body.replace("%s", zeros)).vectors().count());
    assertRefused(body.replace("%s", zeros + ",[0]"), "more than 10000 vectors", "1 to 10000");
    String rows = String.join(",", Collections.nCopies(10_001, "\"AAAAAA==\""));
    assertRefused(body.replace("%s", rows), "more than 10000 vectors", "1 to 10000");
  }

  /** Whatever is done to a body, it is taken or refused as a bad request. */
  public void testDamagedBodiesAreBadRequests() throws IOException {
    int refused = 0;
    for (int i = 0; i < 4000; i++) {
      XContentType form = FORMS.get(i % FORMS.size());
      byte[] body = damaged(BytesReference.toBytes(randomBody(form)), random());
      try {
        Bodies.parse(form, new BytesArray(body));
      } catch (IOException | RuntimeException e) {
        refused++;
        if (ExceptionsHelper.status(e) != RestStatus.BAD_REQUEST) {
          throw new AssertionError(Base64.getEncoder().encodeToString(body), e);
        }
      }
    }
    assertTrue("refused " + refused, refused > 1000);
  }

  private static byte[] damaged(byte[] body, Random random) {
    byte[] damaged = body.clone();
    for (int i = random.nextInt(4); i >= 0 && damaged.length > 1; i--) {
      int at = random.nextInt(damaged.length);
      switch (random.nextInt(4)) {
        case 0 -> damaged[at] = (byte) random.nextInt(256);
        case 1 -> damaged[at] ^= (byte) (1 << random.nextInt(8));
        case 2 -> damaged = Arrays.copyOf(damaged, at + 1);
        default -> {
          byte[] swapped = damaged.clone();
          int to = random.nextInt(damaged.length);
          int length = Math.min(random.nextInt(30), damaged.length - Math.max(at, to));
          System.arraycopy(damaged, at, swapped, to, length);
          damaged = swapped;
        }
      }
    }
    return damaged;
  }

  private static BytesReference randomBody(XContentType form) throws IOException {
    float[][] vectors = randomVectors(1 + random().nextInt(3), 1 + random().nextInt(4));
    return body(
        form,
        json -> {
          if (random().nextBoolean()) {
            json.field("query_vectors", vectors);
          } else {
            json.array("query_vectors", Bodies.base64(vectors[0]));
          }
          json.field("k", 5).field("num_candidates", 50).field("similarity", 0.5);
          json.startObject("filter").startObject("term").field("year", 2020);
          json.endObject().endObject();
          json.field("_source", false).array("fields", "year").field("format", "hits");
        });
  }

  private static QueryVectors vectors(XContentType form, Writer vectors) throws IOException {
    return Bodies.parse(form, new BytesArray(BytesReference.toBytes(body(form, vectors))))
        .vectors();
  }

  @FunctionalInterface
  private interface Writer {
    void write(XContentBuilder json) throws IOException;
  }

  private static BytesReference body(XContentType form, Writer rest) throws IOException {
    try (XContentBuilder json = XContentBuilder.builder(form.xContent())) {
      json.startObject().field("field", "v");
      rest.write(json);
      return BytesReference.bytes(json.endObject());
    }
  }

  private static float[][] randomVectors(int count, int dims) {
    float[][] vectors = new float[count][dims];
    for (float[] vector : vectors) {
      for (int i = 0; i < dims; i++) {
        float any = Float.intBitsToFloat(random().nextInt());
        vector[i] = Float.isFinite(any) ? any : random().nextFloat();
      }
    }
    return vectors;
  }

  private static void assertRefused(String body, String... named) {
    BodyErrorsTests.assertRefused(body, named);
  }
}
