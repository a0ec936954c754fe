package dev.vamana.elasticsearch.yaml;

import dev.vamana.elasticsearch.monitor.stats.OpenMetrics;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.elasticsearch.xcontent.XContentType;

/**
 * What a node has answered.
 *
 * @param status the HTTP status
 * @param body a map, a list, a text, or null if there is none; for a HEAD request whether the
 *     status was one of success
 * @param warnings values of all headers of that name
 */
record RestResponse(int status, Object body, List<String> warnings) {
  private static final int LONGEST_SHOWN = 4000;

  static RestResponse of(
      String method, int status, String contentType, byte[] bytes, List<String> warnings)
      throws IOException {
    Object body = method.equals("HEAD") ? Boolean.valueOf(status < 400) : body(contentType, bytes);
    return new RestResponse(status, body, warnings);
  }

  private static Object body(String contentType, byte[] bytes) throws IOException {
    boolean text =
        contentType != null
            && (contentType.startsWith("text/")
                || contentType.startsWith(OpenMetrics.CONTENT_TYPE));
    if (bytes.length == 0 && !text) {
      return null;
    }
    if (contentType == null || text) {
      return new String(bytes, StandardCharsets.UTF_8);
    }
    XContentType type;
    try {
      type = XContentType.fromMediaType(contentType);
    } catch (IllegalArgumentException e) {
      type = null;
    }
    if (type == null) {
      throw new IllegalArgumentException("cannot read an answer of type [" + contentType + "]");
    }
    List<Object> documents = Content.documents(type, bytes);
    return contentType.contains("ndjson") || documents.size() != 1 ? documents : documents.get(0);
  }

  /** Whether the request failed. */
  boolean failed() {
    return status >= 400 && body instanceof Boolean == false;
  }

  /** What lies at a path of the body. */
  Object find(String path, Stash stash) {
    List<String> parts = ResponsePath.split(path);
    if (body instanceof String && !parts.isEmpty()) {
      return null;
    }
    return ResponsePath.find(body, parts, stash);
  }

  /** Status and start of the body, for messages. */
  String shown() {
    String text = String.valueOf(body);
    return status
        + ": "
        + (text.length() <= LONGEST_SHOWN ? text : text.substring(0, LONGEST_SHOWN) + "...");
  }
}
