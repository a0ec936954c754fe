package dev.vamana.elasticsearch.yaml;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.elasticsearch.xcontent.XContentType;

/**
 * The body of a call: an object, a text, or a list of both, which stand one behind the other. A
 * text of JSON objects may name kept values; any other text is sent as it is.
 *
 * @param parts objects and texts
 * @param several whether it is a list
 */
record CallBody(List<Object> parts, boolean several) {
  private static final String NDJSON = "application/x-ndjson";
  private static final String JSON = "application/json";

  static CallBody parse(Object body) {
    if (body instanceof List<?> list) {
      for (Object part : list) {
        if (part instanceof Map == false && part instanceof String == false) {
          throw new IllegalArgumentException("a body's part has to be an object or text: " + part);
        }
      }
      return new CallBody(List.copyOf(list), true);
    }
    if (body instanceof Map || body instanceof String) {
      return new CallBody(List.of(body), false);
    }
    throw new IllegalArgumentException("a body has to be an object, a list or text: " + body);
  }

  /** The body's only object, whether written as such or as text; or null if it is no object. */
  Map<String, Object> onlyObject() throws IOException {
    List<Object> documents = several ? List.of() : documents(parts.get(0));
    return documents != null && documents.size() == 1
        ? Content.object(documents.get(0), "the body")
        : null;
  }

  /**
   * The bytes to send.
   *
   * @param headers gets a content type unless it has one
   */
  byte[] bytes(ApiSpec spec, Map<String, String> headers, Stash stash) throws IOException {
    List<Object> documents = several ? List.of() : documents(parts.get(0));
    boolean lines =
        several
            || spec.contentTypes().equals(List.of(NDJSON))
            || (spec.contentTypes().contains(NDJSON) && documents != null && documents.size() > 1);
    String contentType =
        headers.computeIfAbsent(
            "Content-Type", name -> lines && spec.contentTypes().contains(NDJSON) ? NDJSON : JSON);
    if (!lines) {
      return single(documents, contentType, stash);
    }
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    for (Object part : parts) {
      List<Object> inside = documents(part);
      if (inside == null) {
        String text = (String) part;
        bytes.writeBytes(text.getBytes(StandardCharsets.UTF_8));
        if (several && !text.endsWith("\n")) {
          bytes.write('\n');
        }
        continue;
      }
      for (Object document : inside) {
        String line = Content.json(Content.object(stash.fill(document), "a body's part"));
        bytes.writeBytes(line.getBytes(StandardCharsets.UTF_8));
        bytes.write('\n');
      }
    }
    return bytes.toByteArray();
  }

  private byte[] single(List<Object> documents, String contentType, Stash stash)
      throws IOException {
    if (parts.get(0) instanceof String text && (documents == null || text.indexOf('$') < 0)) {
      return text.getBytes(StandardCharsets.UTF_8);
    }
    if (documents.size() != 1) {
      throw new IllegalArgumentException("a text of several objects may not name kept values here");
    }
    XContentType type = XContentType.fromMediaType(contentType);
    if (type == null) {
      throw new IllegalArgumentException("cannot write a body of type [" + contentType + "]");
    }
    return Content.bytes(type, Content.object(stash.fill(documents.get(0)), "the body"));
  }

  /** The part's objects, or null if it is a text of something else. */
  private static List<Object> documents(Object part) throws IOException {
    if (part instanceof Map) {
      return List.of(part);
    }
    List<Object> documents = new ArrayList<>();
    try {
      documents.addAll(Content.json((String) part));
    } catch (IOException | IllegalArgumentException noJson) {
      return null;
    }
    return documents.isEmpty() || documents.stream().anyMatch(d -> d instanceof Map == false)
        ? null
        : documents;
  }
}
