package dev.vamana.tools.text;

import java.io.IOException;
import java.net.Socket;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.regex.Pattern;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Answers of the page's server, over HTTP. */
public class SearchServerTests extends LuceneTestCase {

  private JavadocFolder javadoc;
  private TextSet set;
  private final WordEncoder encoder = new WordEncoder();

  @Override
  public void setUp() throws Exception {
    super.setUp();
    javadoc = TestText.folder(createTempDir(), 40);
    set = TextSet.of(javadoc, encoder, createTempDir(), 1000, 20, (done, all) -> {});
  }

  private SearchServer serve(Engine... engines) throws IOException {
    return new SearchServer(set, encoder, List.of(engines), javadoc, 0);
  }

  private static HttpResponse<String> get(SearchServer server, String path) throws Exception {
    return send(HttpRequest.newBuilder(server.uri().resolve(path)));
  }

  private static HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
    try (HttpClient http = HttpClient.newHttpClient()) {
      return http.send(request.build(), BodyHandlers.ofString(StandardCharsets.UTF_8));
    }
  }

  private static String question(String words) {
    return "/?c=50&q=" + URLEncoder.encode(words, StandardCharsets.UTF_8);
  }

  private static int count(String text, String part) {
    return text.split(Pattern.quote(part), -1).length - 1;
  }

  public void testAnswersSideBySide() throws Exception {
    Engine good = new TestText.ExactEngine("ours", set);
    Engine wrong = new TestText.WrongEngine("theirs", set);
    try (SearchServer server = serve(good, wrong)) {
      HttpResponse<String> start = get(server, "/");
      assertEquals(200, start.statusCode());
      assertTrue(start.body(), start.body().contains("41 passages"));
      HttpResponse<String> answer = get(server, question("open file number 7 of the folder"));
      assertEquals(200, answer.statusCode());
      String body = answer.body();
      assertEquals(20, count(body, "<li><h3>"));
      assertTrue(body, body.contains("<dd class=\"recall\">10 of 10</dd>"));
      assertTrue(body, body.contains("<dd class=\"recall\">0 of 10</dd>"));
      assertEquals(10, count(body, "class=\"tag right\""));
      assertEquals(10, count(body, "class=\"tag wrong\""));
      String link = "<a href=\"/doc/tiny-1.0/org/tiny/Writer.html#openFile7%28int%29\">";
      assertTrue(body, body.contains(link + "Writer.openFile7</a>"));
      assertTrue(body, body.contains("value=\"open file number 7 of the folder\" autofocus>"));
      assertEquals(1, count(body, "<label for=\"q\">"));
      assertTrue(body, body.contains("<option selected>50</option>"));
      String policy = answer.headers().firstValue("Content-Security-Policy").orElseThrow();
      assertTrue(policy, policy.contains("default-src 'none'"));
    }
  }

  public void testTextOfAnyoneIsEscaped() throws Exception {
    try (SearchServer server = serve(new TestText.ExactEngine("<b>ours</b>", set))) {
      String body = get(server, question("\"><script>alert(1)</script>")).body();
      assertFalse(body, body.contains("<script"));
      assertFalse(body, body.contains("<b>ours"));
      assertTrue(body, body.contains("value=\"&quot;&gt;&lt;script&gt;alert(1)"));
    }
  }

  public void testIndexThatDoesNotAnswer() throws Exception {
    Engine good = new TestText.ExactEngine("ours", set);
    try (SearchServer server = serve(good, new TestText.DownEngine("theirs"))) {
      HttpResponse<String> answer = get(server, question("anything"));
      assertEquals(502, answer.statusCode());
      assertTrue(answer.body(), answer.body().contains("role=\"alert\""));
      assertTrue(answer.body(), answer.body().contains("connection &lt;refused&gt;"));
      assertTrue(answer.body(), answer.body().contains("node cannot be reached"));
      assertFalse(answer.body(), answer.body().contains("end of log"));
      assertEquals(10, count(answer.body(), "<li><h3>"));
    }
  }

  public void testPagesOfArtefacts() throws Exception {
    try (SearchServer server = serve(new TestText.ExactEngine("ours", set))) {
      HttpResponse<String> page = get(server, "/doc/" + TestText.ARTEFACT + "/" + TestText.PAGE);
      assertEquals(200, page.statusCode());
      assertEquals(TestText.page(40), page.body());
      assertEquals("text/html; charset=utf-8", page.headers().firstValue("Content-Type").get());
      String policy = page.headers().firstValue("Content-Security-Policy").orElseThrow();
      assertFalse(policy, policy.contains("script"));
      for (String path :
          List.of("/doc/", "/doc/other/x.html", "/doc/" + TestText.ARTEFACT + "/no.html", "/x")) {
        assertEquals(path, 404, get(server, path).statusCode());
      }
    }
  }

  public void testRejections() throws Exception {
    try (SearchServer server = serve(new TestText.ExactEngine("ours", set))) {
      for (String c : List.of("9", "10001", "x", "-1", "999999999999")) {
        HttpResponse<String> answer = get(server, "/?q=a&c=" + c);
        assertEquals(c, 400, answer.statusCode());
        assertTrue(answer.body(), answer.body().contains("[10, 10000]"));
      }
      assertEquals(400, get(server, "/?q=a+&c=%3Cb%3E").statusCode());
      HttpRequest.Builder post = HttpRequest.newBuilder(server.uri());
      assertEquals(405, send(post.POST(HttpRequest.BodyPublishers.ofString("q=a"))).statusCode());
      String longest = "a".repeat(5 * SearchServer.LONGEST_QUESTION);
      String body = get(server, question(longest)).body();
      assertFalse(body.contains("a".repeat(SearchServer.LONGEST_QUESTION + 1)));
      int port = server.uri().getPort();
      assertTrue(
          expectThrows(
                  IllegalArgumentException.class,
                  () -> new SearchServer(set, encoder, List.of(), javadoc, port).close())
              .getMessage()
              .contains("-Dpage.port"));
    }
  }

  public void testOtherHostNamesAreRefused() throws Exception {
    try (SearchServer server = serve(new TestText.ExactEngine("ours", set));
        Socket socket = new Socket("127.0.0.1", server.uri().getPort())) {
      String request = "GET / HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
      String answer = new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      assertTrue(answer, answer.startsWith("HTTP/1.1 403"));
    }
  }
}
