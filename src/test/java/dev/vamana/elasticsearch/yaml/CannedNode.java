package dev.vamana.elasticsearch.yaml;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.elasticsearch.xcontent.XContentType;

/** An HTTP server that gives prepared answers and remembers what it was asked. */
final class CannedNode implements AutoCloseable {
  private final HttpServer server;
  private final RestClient client;
  private final Map<String, Answer> answers = new HashMap<>();
  private final List<Received> received = Collections.synchronizedList(new ArrayList<>());

  private record Answer(int status, String contentType, String body, List<String> warnings) {}

  /** A request that came. */
  record Received(String method, String uri, String contentType, String body) {}

  CannedNode() throws IOException {
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext("/", this::handle);
    server.start();
    client = new RestClient(URI.create("http://127.0.0.1:" + server.getAddress().getPort()));
  }

  /** Prepares an answer to all requests of a path, whatever their parameters. */
  CannedNode answer(String path, int status, String json, String... warnings) {
    answers.put(path, new Answer(status, "application/json", json, List.of(warnings)));
    return this;
  }

  CannedNode answerText(String path, String text) {
    answers.put(path, new Answer(200, "text/plain; charset=UTF-8", text, List.of()));
    return this;
  }

  private void handle(HttpExchange exchange) throws IOException {
    try (exchange) {
      received.add(
          new Received(
              exchange.getRequestMethod(),
              exchange.getRequestURI().toString(),
              exchange.getRequestHeaders().getFirst("Content-Type"),
              new String(exchange.getRequestBody().readAllBytes(), StandardCharsets.UTF_8)));
      Answer answer =
          answers.getOrDefault(
              exchange.getRequestURI().getPath(),
              new Answer(200, "application/json", "{}", List.of()));
      exchange.getResponseHeaders().set("Content-Type", answer.contentType());
      for (String warning : answer.warnings()) {
        exchange
            .getResponseHeaders()
            .add("Warning", "299 Elasticsearch-9.5.3-unknown \"" + warning + "\"");
      }
      byte[] body = answer.body().getBytes(StandardCharsets.UTF_8);
      boolean head = exchange.getRequestMethod().equals("HEAD");
      exchange.sendResponseHeaders(answer.status(), head ? -1 : body.length);
      if (!head) {
        exchange.getResponseBody().write(body);
      }
    }
  }

  /** The last request. */
  Received last() {
    return received.get(received.size() - 1);
  }

  int requests() {
    return received.size();
  }

  RestClient client() {
    return client;
  }

  Execution execution(InjectedSettings injected) throws IOException {
    return new Execution(client, new ApiSpecs(), new ClusterInfo(client), injected);
  }

  /** Runs the steps of a YAML list. */
  void run(Execution execution, String steps) throws IOException {
    byte[] yaml = steps.getBytes(StandardCharsets.UTF_8);
    for (Object entry : (List<?>) Content.documents(XContentType.YAML, yaml).get(0)) {
      Map<String, Object> step = Content.object(entry, "a step");
      String kind = step.keySet().iterator().next();
      Step.parse(kind, step.get(kind)).run(execution);
    }
  }

  @Override
  public void close() {
    client.close();
    server.stop(0);
  }
}
