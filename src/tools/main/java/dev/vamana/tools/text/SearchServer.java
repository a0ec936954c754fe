package dev.vamana.tools.text;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

/**
 * Serves the search page on 127.0.0.1: {@code /?q=question&c=num_candidates}, and under {@code
 * /doc/artefact/path} the pages that the passages come from.
 */
public final class SearchServer implements AutoCloseable {

  /** Characters of a question; longer ones are cut. */
  static final int LONGEST_QUESTION = 400;

  private static final String OWN_POLICY =
      "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; base-uri 'none'";
  private static final String DOC_POLICY =
      "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'";
  private static final String DOC = "/doc/";

  private final Comparison comparison;
  private final SearchPage page;
  private final JavadocFolder javadoc;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newFixedThreadPool(4);

  /**
   * Starts serving.
   *
   * @param engines to be compared, ours first
   * @param javadoc the artefacts of the passages, null to serve none of their pages
   * @param port of 127.0.0.1, 0 for a free one
   * @throws IllegalArgumentException if the port is in use
   */
  public SearchServer(
      TextSet set, SentenceEncoder encoder, List<Engine> engines, JavadocFolder javadoc, int port)
      throws IOException {
    this.comparison = new Comparison(set, encoder, engines);
    this.page = new SearchPage(set, javadoc == null ? List.of() : javadoc.names(), javadoc != null);
    this.javadoc = javadoc;
    try {
      server =
          HttpServer.create(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port), 0);
    } catch (BindException e) {
      throw new IllegalArgumentException(
          "port " + port + " of 127.0.0.1 is in use: give another one with -Dpage.port=<n>", e);
    }
    server.createContext("/", this::answer);
    server.setExecutor(threads);
    server.start();
  }

  /** The page's address. */
  public URI uri() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      Response response;
      try {
        response = response(exchange);
      } catch (RuntimeException | IOException e) {
        String message = e.getMessage() == null ? e.toString() : e.getMessage();
        response = html(500, page.problem("Something went wrong", message));
      }
      exchange.getResponseHeaders().set("Content-Type", response.type());
      exchange.getResponseHeaders().set("Content-Security-Policy", response.policy());
      exchange.getResponseHeaders().set("X-Content-Type-Options", "nosniff");
      exchange.getResponseHeaders().set("Cache-Control", "no-store");
      boolean head = exchange.getRequestMethod().equals("HEAD");
      exchange.sendResponseHeaders(response.status(), head ? -1 : response.body().length);
      if (head == false) {
        exchange.getResponseBody().write(response.body());
      }
    }
  }

  private record Response(int status, String type, String policy, byte[] body) {}

  private static Response html(int status, Html page) {
    return new Response(status, "text/html; charset=utf-8", OWN_POLICY, page.bytes());
  }

  private Response response(HttpExchange exchange) throws IOException {
    if (List.of("GET", "HEAD").contains(exchange.getRequestMethod()) == false) {
      return html(405, page.problem("Not possible", "This page answers GET requests only."));
    }
    // A page of another origin must not reach this one under a name of its own.
    String host = exchange.getRequestHeaders().getFirst("Host");
    if (host == null || host.matches("(127\\.0\\.0\\.1|localhost)(:\\d+)?") == false) {
      return html(403, page.problem("Not possible", "This page answers on this machine only."));
    }
    String path = exchange.getRequestURI().getPath();
    if (path.startsWith(DOC)) {
      return document(path.substring(DOC.length()));
    }
    if (path.equals("/") == false) {
      return html(404, page.problem("Not found", "There is nothing at " + path + "."));
    }
    return question(parameters(exchange.getRequestURI().getRawQuery()));
  }

  private Response question(Map<String, String> parameters) {
    String question = parameters.getOrDefault("q", "").strip();
    if (question.isEmpty()) {
      return html(200, page.start());
    }
    String candidates = parameters.getOrDefault("c", "100");
    int numCandidates = candidates.matches("\\d{1,5}") ? Integer.parseInt(candidates) : 0;
    if (numCandidates < Comparison.K || numCandidates > 10_000) {
      return html(
          400,
          page.problem(
              "Not possible",
              "num_candidates is "
                  + candidates
                  + ", allowed is a whole number in ["
                  + Comparison.K
                  + ", 10000]."));
    }
    if (question.length() > LONGEST_QUESTION) {
      question = question.substring(0, LONGEST_QUESTION);
    }
    Comparison.Result result = comparison.ask(question, numCandidates);
    boolean failed = result.columns().stream().anyMatch(column -> column.failure() != null);
    return html(failed ? 502 : 200, page.answers(question, numCandidates, result));
  }

  private Response document(String rest) throws IOException {
    int slash = rest.indexOf('/');
    String path = slash < 0 ? "" : rest.substring(slash + 1);
    Optional<byte[]> file =
        javadoc == null || slash < 0
            ? Optional.empty()
            : javadoc.file(rest.substring(0, slash), path);
    return file.map(bytes -> new Response(200, type(path), DOC_POLICY, bytes))
        .orElseGet(() -> html(404, page.problem("Not found", "No artefact has " + rest + ".")));
  }

  private static String type(String path) {
    String extension = path.substring(path.lastIndexOf('.') + 1).toLowerCase(Locale.ROOT);
    return switch (extension) {
      case "html" -> "text/html; charset=utf-8";
      case "css" -> "text/css; charset=utf-8";
      case "svg" -> "image/svg+xml";
      case "png" -> "image/png";
      case "gif" -> "image/gif";
      default -> "application/octet-stream";
    };
  }

  static Map<String, String> parameters(String query) {
    Map<String, String> parameters = new HashMap<>();
    for (String pair : query == null ? new String[0] : query.split("&")) {
      int equals = pair.indexOf('=');
      if (equals > 0) {
        try {
          parameters.put(
              pair.substring(0, equals),
              URLDecoder.decode(pair.substring(equals + 1), StandardCharsets.UTF_8));
        } catch (IllegalArgumentException e) {
          throw new IllegalArgumentException("the address is not encoded well: " + pair, e);
        }
      }
    }
    return parameters;
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }
}
