package dev.vamana.tools.cells;

import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.demo.Load;
import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * Searches of one index over connections that stay open. A client's own thread sends and reads,
 * since clients share the processors with the node that they measure.
 */
final class KeptConnections implements Load.Searches {

  private static final int TIMEOUT_MILLIS = 120_000;

  private final URL url;

  KeptConnections(URI node, KnnIndex index) throws IOException {
    url = node.resolve("/" + index.name() + "/_search").toURL();
  }

  /** Lets the JVM keep as many connections as there are clients; it keeps five by default. */
  static void keep(int clients) {
    System.setProperty("http.maxConnections", Integer.toString(clients));
  }

  @Override
  public void ask(String query) throws IOException {
    answer(query);
  }

  /** Sends a search request and returns the answer's body. */
  String answer(String query) throws IOException {
    byte[] body = query.getBytes(StandardCharsets.UTF_8);
    HttpURLConnection connection = (HttpURLConnection) url.openConnection();
    connection.setRequestMethod("POST");
    connection.setDoOutput(true);
    connection.setReadTimeout(TIMEOUT_MILLIS);
    connection.setFixedLengthStreamingMode(body.length);
    connection.setRequestProperty("Content-Type", "application/json");
    connection.getOutputStream().write(body);
    int status = connection.getResponseCode();
    // read to the end, or the connection is not kept
    try (InputStream in = status == 200 ? connection.getInputStream() : error(connection)) {
      String answer = new String(in.readAllBytes(), StandardCharsets.UTF_8);
      if (status != 200) {
        throw new IOException(
            String.format(Locale.ROOT, "a search of %s answered %d: %s", url, status, answer));
      }
      return answer;
    }
  }

  private static InputStream error(HttpURLConnection connection) {
    InputStream error = connection.getErrorStream();
    return error == null ? InputStream.nullInputStream() : error;
  }
}
