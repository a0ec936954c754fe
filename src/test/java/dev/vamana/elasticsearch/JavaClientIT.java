package dev.vamana.elasticsearch;

import static dev.vamana.elasticsearch.JavaClient.answer;
import static dev.vamana.elasticsearch.JavaClient.bulk;
import static dev.vamana.elasticsearch.JavaClient.knn;
import static dev.vamana.elasticsearch.JavaClient.list;
import static dev.vamana.elasticsearch.JavaClient.perform;
import static dev.vamana.elasticsearch.JavaClient.vector;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import co.elastic.clients.elasticsearch.ElasticsearchClient;
import co.elastic.clients.elasticsearch._types.ElasticsearchException;
import co.elastic.clients.elasticsearch._types.KnnSearch;
import co.elastic.clients.elasticsearch._types.mapping.DenseVectorIndexOptionsType;
import co.elastic.clients.elasticsearch._types.query_dsl.Query;
import co.elastic.clients.elasticsearch.core.MsearchRequest;
import co.elastic.clients.elasticsearch.core.SearchRequest;
import co.elastic.clients.elasticsearch.core.msearch.MultiSearchResponseItem;
import co.elastic.clients.elasticsearch.core.search.Hit;
import co.elastic.clients.elasticsearch.core.search.ResponseBody;
import co.elastic.clients.elasticsearch.indices.IndexSettings;
import co.elastic.clients.json.JsonData;
import co.elastic.clients.transport.rest5_client.low_level.Request;
import dev.vamana.elasticsearch.TestVectors.Similarity;
import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.IntPredicate;
import java.util.function.UnaryOperator;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.junit.AfterClass;
import org.junit.BeforeClass;
import org.junit.ClassRule;
import org.junit.Test;

/**
 * Elasticsearch's own Java client against a node with the plugin: mappings, documents, every form
 * of kNN search, and our endpoints. The client knows nothing of the plugin; the index template of
 * the pages switches it on. Answers are compared with exact search in this JVM.
 */
public class JavaClientIT {
  private static final String INDEX = "java-pictures";
  private static final int DIMS = 64;
  private static final int COUNT = 400;
  private static final int CANDIDATES = 200;
  private static final int QUERY_COUNT = 4;

  /** The last ones are the queries. */
  private static final TestVectors VECTORS =
      TestVectors.clustered(COUNT + QUERY_COUNT, DIMS, 20, 11);

  private static final IntPredicate ALL = doc -> doc < COUNT;
  private static final IntPredicate RED = ALL.and(doc -> doc % 4 == 0);
  private static final IntPredicate RARE = ALL.and(doc -> doc % 100 == 7);

  @ClassRule public static final SharedCluster CLUSTER = SharedCluster.ONE_NODE;

  private static ElasticsearchClient client;

  /** A document; one field for each kind of index. */
  record Photo(
      List<Float> plain, List<Float> int8, List<Float> bbq, String color, String caption) {}

  /** A document with vectors of its parts. */
  record Album(List<Page> pages) {}

  /** A part of a document. */
  record Page(List<Float> v) {}

  /** A document of an index that is opted in by its settings, or by a dynamic mapping. */
  record Point(List<Float> v) {}

  @BeforeClass
  public static void indexPhotos() throws IOException {
    client = ElasticsearchClient.of(c -> c.host(CLUSTER.first().httpUri().toString()));
    try (InputStream template = Files.newInputStream(ExampleTemplates.FOR_ALL)) {
      client.indices().putIndexTemplate(put -> put.name("vamana-for-all").withJson(template));
    }
    client
        .indices()
        .create(
            create ->
                create
                    .index(INDEX)
                    .settings(s -> s.numberOfShards("2").numberOfReplicas("0"))
                    .mappings(
                        m ->
                            m.properties("plain", vector(DIMS, DenseVectorIndexOptionsType.Hnsw))
                                .properties(
                                    "int8", vector(DIMS, DenseVectorIndexOptionsType.Int8Hnsw))
                                .properties(
                                    "bbq", vector(DIMS, DenseVectorIndexOptionsType.BbqHnsw))
                                .properties("color", p -> p.keyword(k -> k))
                                .properties("caption", p -> p.text(t -> t))));
    bulk(client, INDEX, 0, COUNT / 2, JavaClientIT::photo);
    bulk(client, INDEX, COUNT / 2, COUNT, JavaClientIT::photo);
  }

  @AfterClass
  public static void closeClient() throws IOException {
    if (client != null) {
      client.close();
    }
  }

  private static Photo photo(int doc) {
    List<Float> v = list(VECTORS.vector(doc));
    String color = RED.test(doc) ? "red" : "blue";
    return new Photo(v, v, v, color, RARE.test(doc) ? "a rare bird" : "a common bird");
  }

  private static float[] query(int i) {
    return VECTORS.vector(COUNT + i);
  }

  private static Map<Integer, Double> scores(float[] query, IntPredicate accepted) {
    return VECTORS.scores(query, Similarity.L2_NORM, accepted);
  }

  private static Map<Integer, Double> nearest(float[] query, int k, IntPredicate accepted) {
    return VECTORS.nearest(query, k, Similarity.L2_NORM, accepted);
  }

  private static Map<String, Object> search(UnaryOperator<SearchRequest.Builder> request)
      throws IOException {
    SearchRequest.Builder search = new SearchRequest.Builder().index(INDEX);
    return answer(client.search(request.apply(search).build(), Photo.class));
  }

  private static Map<String, Object> json(String body) {
    return XContentHelper.convertToMap(JsonXContent.jsonXContent, body, true);
  }

  /** Columns of our list of segments, a line for each segment and field. */
  private static List<String> segments(String index, String columns) throws IOException {
    Request segments = new Request("GET", "/_cat/vamana/" + index);
    segments.addParameter("h", columns);
    return perform(client, segments)
        .lines()
        .map(line -> line.strip().replaceAll(" +", " "))
        .toList();
  }

  private static void assertInOurFormat(String index, boolean expected) throws IOException {
    new TestIndex(CLUSTER.first().client(), index).assertSegmentsInOurFormat(expected);
  }

  private static String enabled(String index) throws IOException {
    IndexSettings settings =
        client.indices().getSettings(g -> g.index(index)).settings().get(index).settings().index();
    JsonData vamana = settings.otherSettings().get("vamana");
    return vamana == null ? null : vamana.toJson().asJsonObject().getString("enabled");
  }

  @Test
  public void testTheTemplateSwitchesThePluginOn() throws IOException {
    assertEquals("true", enabled(INDEX));
    assertInOurFormat(INDEX, true);
  }

  @Test
  public void testKnn() throws IOException {
    for (int i = 0; i < QUERY_COUNT; i++) {
      float[] query = query(i);
      for (String field : List.of("plain", "int8", "bbq")) {
        KnnSearch knn = knn(query, 10, field, k -> k);
        Answers.assertBest(scores(query, ALL), 10, search(s -> s.knn(knn)));
      }
    }
  }

  @Test
  public void testDocumentsComeBack() throws IOException {
    KnnSearch knn = knn(VECTORS.vector(100), 1, "plain", k -> k);
    Hit<Photo> hit = client.search(s -> s.index(INDEX).knn(knn), Photo.class).hits().hits().get(0);
    assertEquals("100", hit.id());
    assertEquals("red", hit.source().color());
    Photo got =
        client.get(g -> g.index(INDEX).id("100").sourceExcludeVectors(false), Photo.class).source();
    assertEquals(photo(100), got);
  }

  @Test
  public void testFilter() throws IOException {
    Query red = Query.of(q -> q.term(t -> t.field("color").value("red")));
    Query green = Query.of(q -> q.term(t -> t.field("color").value("green")));
    for (int i = 0; i < QUERY_COUNT; i++) {
      float[] query = query(i);
      KnnSearch some = knn(query, 10, "plain", k -> k.filter(red));
      Answers.assertBest(scores(query, RED), 10, search(s -> s.knn(some)));
      KnnSearch none = knn(query, 10, "plain", k -> k.filter(green));
      Answers.assertBest(Map.of(), 10, search(s -> s.knn(none)));
    }
  }

  /** The threshold lies between the distances of the 5th and the 6th nearest. */
  @Test
  public void testSimilarity() throws IOException {
    for (int i = 0; i < QUERY_COUNT; i++) {
      float[] query = query(i);
      List<Double> best = List.copyOf(nearest(query, 6, ALL).values());
      double score = (best.get(4) + best.get(5)) / 2;
      float distance = (float) Math.sqrt(1 / score - 1);
      KnnSearch knn = knn(query, 10, "plain", k -> k.similarity(distance));
      Answers.assertBest(nearest(query, 5, ALL), 10, search(s -> s.knn(knn)));
    }
  }

  @Test
  public void testRescore() throws IOException {
    for (int i = 0; i < QUERY_COUNT; i++) {
      float[] query = query(i);
      for (String field : List.of("int8", "bbq")) {
        KnnSearch knn = knn(query, 10, field, k -> k.rescoreVector(r -> r.oversample(2.5f)));
        Answers.assertBest(scores(query, ALL), 10, search(s -> s.knn(knn)));
      }
    }
  }

  @Test
  public void testSeveralKnnClauses() throws IOException {
    for (int i = 0; i < QUERY_COUNT; i++) {
      float[] query = query(i);
      float[] other = query((i + 1) % QUERY_COUNT);
      Map<Integer, Double> sums = new HashMap<>(nearest(query, 10, ALL));
      nearest(other, 5, ALL).forEach((doc, score) -> sums.merge(doc, 0.5 * score, Double::sum));
      KnnSearch one = knn(query, 10, "plain", k -> k);
      KnnSearch two = knn(other, 5, "int8", k -> k.boost(0.5f));
      Answers.assertBest(sums, 15, search(s -> s.knn(one, two).size(15)));
    }
  }

  @Test
  public void testHybrid() throws IOException {
    Query rare =
        Query.of(
            q ->
                q.constantScore(
                    c -> c.filter(f -> f.match(m -> m.field("caption").query("rare"))).boost(3f)));
    for (int i = 0; i < QUERY_COUNT; i++) {
      float[] query = query(i);
      Map<Integer, Double> sums = new HashMap<>();
      scores(query, RARE).keySet().forEach(doc -> sums.put(doc, 3.0));
      nearest(query, 10, ALL).forEach((doc, score) -> sums.merge(doc, 2 * score, Double::sum));
      KnnSearch knn = knn(query, 10, "plain", k -> k.boost(2f));
      Answers.assertBest(sums, 20, search(s -> s.query(rare).knn(knn).size(20)));
    }
  }

  /** As a clause of a bool query each shard gives its nearest; the others only add to them. */
  @Test
  public void testKnnQueryInBool() throws IOException {
    for (int i = 0; i < QUERY_COUNT; i++) {
      float[] query = query(i);
      Query knn =
          Query.of(
              q ->
                  q.knn(
                      k ->
                          k.field("plain")
                              .queryVector(list(query))
                              .k(COUNT)
                              .numCandidates(COUNT)
                              .filter(f -> f.term(t -> t.field("color").value("red")))));
      Query rare = Query.of(q -> q.match(m -> m.field("caption").query("rare").boost(0f)));
      Map<String, Object> found = search(s -> s.query(q -> q.bool(b -> b.must(knn).should(rare))));
      Answers.assertBest(scores(query, RED), 10, found);
    }
  }

  @Test
  public void testRetrievers() throws IOException {
    for (int i = 0; i < QUERY_COUNT; i++) {
      float[] query = query(i);
      Answers.assertBest(
          scores(query, ALL),
          10,
          search(
              s ->
                  s.retriever(
                      r ->
                          r.knn(
                              k ->
                                  k.field("plain")
                                      .queryVector(list(query))
                                      .k(10)
                                      .numCandidates(CANDIDATES)))));
      Query knn =
          Query.of(
              q -> q.knn(k -> k.field("plain").queryVector(list(query)).numCandidates(CANDIDATES)));
      Answers.assertBest(
          scores(query, ALL), 10, search(s -> s.retriever(r -> r.standard(t -> t.query(knn)))));
    }
  }

  /** Reciprocal rank fusion belongs to x-pack, which the assembled node lacks. */
  @Test
  public void testTheNodeHasNoRankFusion() {
    ElasticsearchException refused =
        assertThrows(
            ElasticsearchException.class,
            () ->
                search(
                    s ->
                        s.retriever(
                            r ->
                                r.rrf(
                                    f ->
                                        f.retrievers(
                                            e ->
                                                e.retriever(
                                                    t ->
                                                        t.standard(
                                                            q ->
                                                                q.query(
                                                                    a -> a.matchAll(m -> m)))))))));
    assertEquals(400, refused.status());
    assertTrue(refused.getMessage(), refused.getMessage().contains("rrf"));
  }

  @Test
  public void testMsearch() throws IOException {
    MsearchRequest.Builder searches = new MsearchRequest.Builder().index(INDEX);
    for (int i = 0; i < QUERY_COUNT; i++) {
      KnnSearch knn = knn(query(i), 10, "plain", k -> k);
      searches.searches(item -> item.header(h -> h).body(b -> b.knn(knn)));
    }
    List<MultiSearchResponseItem<Photo>> answers =
        client.msearch(searches.build(), Photo.class).responses();
    assertEquals(QUERY_COUNT, answers.size());
    for (int i = 0; i < QUERY_COUNT; i++) {
      Answers.assertBest(scores(query(i), ALL), 10, answer(answers.get(i).result()));
    }
  }

  /** Page p is number p / albums of album p % albums; an album scores as its best page. */
  @Test
  public void testNestedWithInnerHits() throws IOException {
    int albums = 100;
    client
        .indices()
        .create(
            create ->
                create
                    .index("java-albums")
                    .mappings(
                        m ->
                            m.properties(
                                "pages",
                                p ->
                                    p.nested(
                                        n ->
                                            n.properties(
                                                "v",
                                                vector(DIMS, DenseVectorIndexOptionsType.Hnsw))))));
    bulk(
        client,
        "java-albums",
        0,
        albums,
        album -> {
          List<Page> pages = new ArrayList<>();
          for (int page = album; page < COUNT; page += albums) {
            pages.add(new Page(list(VECTORS.vector(page))));
          }
          return new Album(pages);
        });
    assertInOurFormat("java-albums", true);
    for (int i = 0; i < QUERY_COUNT; i++) {
      float[] query = query(i);
      Map<Integer, Double> byAlbum = new HashMap<>();
      scores(query, ALL).forEach((page, score) -> byAlbum.merge(page % albums, score, Math::max));
      KnnSearch knn =
          knn(query, 5, "pages.v", k -> k.innerHits(h -> h.size(1).source(s -> s.fetch(false))));
      ResponseBody<Album> found = client.search(s -> s.index("java-albums").knn(knn), Album.class);
      Answers.assertBest(byAlbum, 5, answer(found));
      for (Hit<Album> hit : found.hits().hits()) {
        int album = Integer.parseInt(hit.id());
        Hit<JsonData> inner = hit.innerHits().get("pages").hits().hits().get(0);
        int page = inner.nested().offset() * albums + album;
        assertEquals(byAlbum.get(album), scores(query, ALL).get(page), 1e-9);
        assertEquals(byAlbum.get(album), inner.score(), 1e-5);
      }
    }
  }

  /** The index opts in by its own settings, with a graph over few vectors. */
  @Test
  public void testSettingsOfTheIndex() throws IOException {
    client
        .indices()
        .create(
            create ->
                create
                    .index("java-points")
                    .settings(
                        s ->
                            s.otherSettings("index.vamana.enabled", JsonData.of(true))
                                .otherSettings("index.vamana.max_degree", JsonData.of(16))
                                .otherSettings("index.vamana.graph_threshold", JsonData.of(0)))
                    .mappings(
                        m -> m.properties("v", vector(DIMS, DenseVectorIndexOptionsType.Hnsw))));
    bulk(client, "java-points", 0, COUNT, doc -> new Point(list(VECTORS.vector(doc))));
    client.indices().forcemerge(f -> f.index("java-points").maxNumSegments(1L));
    client.indices().refresh(r -> r.index("java-points"));
    assertInOurFormat("java-points", true);
    List<String> states = segments("java-points", "state");
    assertFalse(states.toString(), states.contains("no_graph"));
    double recall = 0;
    for (int i = 0; i < QUERY_COUNT; i++) {
      KnnSearch knn = knn(query(i), 10, "v", k -> k);
      ResponseBody<Point> found = client.search(s -> s.index("java-points").knn(knn), Point.class);
      recall += Answers.recall(scores(query(i), ALL), 10, answer(found)) / QUERY_COUNT;
    }
    assertTrue("recall " + recall, recall >= 0.95);
  }

  @Test
  public void testOurEndpoints() throws IOException {
    float[][] queries = {query(0), query(1), query(2)};
    Request batch = new Request("POST", "/" + INDEX + "/_vamana/search");
    StringBuilder vectors = new StringBuilder();
    for (float[] query : queries) {
      vectors.append(vectors.isEmpty() ? "" : ",").append(TestVectors.json(query));
    }
    batch.setJsonEntity(
        Json.of(
            """
            {"field": "plain", "query_vectors": [%s], "k": 10, "num_candidates": %d}
            """,
            vectors, CANDIDATES));
    List<?> responses = (List<?>) json(perform(client, batch)).get("responses");
    for (int i = 0; i < queries.length; i++) {
      List<?> hits = (List<?>) NodeClient.at(responses.get(i), "hits", "hits");
      Answers.assertBest(scores(queries[i], ALL), 10, answer(false, 0, hits));
    }

    Map<String, Object> stats = json(perform(client, new Request("GET", "/_vamana/nodes/stats")));
    assertEquals(1, ((Map<?, ?>) stats.get("nodes")).size());

    Set<String> segments = Set.copyOf(segments(INDEX, "index,field"));
    assertEquals(Set.of(INDEX + " plain", INDEX + " int8", INDEX + " bbq"), segments);

    Request warmup = new Request("POST", "/" + INDEX + "/_vamana/warmup");
    assertEquals(0, NodeClient.at(json(perform(client, warmup)), "_shards", "failed"));
  }

  /** The program that the page prints, but for the node's address; Java compiles and runs it. */
  @Test
  public void testProgramOfThePage() throws IOException {
    List<String> programs = PrintedCommands.blocks(Path.of("docs/operators/clients.md"), "java");
    assertEquals(1, programs.size());
    URI node = CLUSTER.first().httpUri();
    String address = node.getHost() + ":" + node.getPort();
    Path folder = Files.createDirectories(Path.of("target", "java-client"));
    Files.writeString(
        folder.resolve("PhotoSearch.java"),
        programs.get(0).replace(PrintedCommands.PRINTED_ADDRESS, address));
    String printed =
        PrintedCommands.run(
            folder,
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
            "PhotoSearch.java");
    assertEquals(
        List.of("3 0.9901 2024", "2 0.5025 2023", "{\"ids\":[[\"1\",\"3\"],[\"2\",\"3\"]]}"),
        printed.lines().toList());
  }
}
