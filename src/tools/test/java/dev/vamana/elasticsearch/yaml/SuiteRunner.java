package dev.vamana.elasticsearch.yaml;

import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.elasticsearch.common.Strings;
import org.elasticsearch.xcontent.XContentBuilder;
import org.elasticsearch.xcontent.XContentParser;
import org.elasticsearch.xcontent.XContentParserConfiguration;
import org.elasticsearch.xcontent.json.JsonXContent;

/** Runs tests against a node, and removes from its cluster what they leave behind. */
public final class SuiteRunner {
  private static final Map<String, Integer> CATCHES =
      Map.of("bad_request", 400, "missing", 404, "conflict", 409);
  private static final Pattern EMBEDDED = Pattern.compile("\\$\\{(\\w+)}");

  private final NodeClient client;
  private final Leftovers leftovers;

  /** Values that the running test has kept, by name; {@code body} is the last answer. */
  private final Map<String, Object> kept = new HashMap<>();

  /** A runner for a node. */
  public SuiteRunner(NodeClient client) throws IOException {
    this.client = client;
    leftovers = Leftovers.before(client);
  }

  /**
   * Runs one test, with the file's setup and teardown.
   *
   * @param title the test's
   * @throws AssertionError if the test fails, with file and line
   */
  public void run(Suite suite, String title) throws IOException {
    kept.clear();
    try {
      execute(suite, suite.setup());
      execute(suite, suite.tests().get(title));
    } finally {
      execute(suite, suite.teardown());
      leftovers.remove();
    }
  }

  private void execute(Suite suite, List<Suite.Step> steps) {
    for (Suite.Step step : steps) {
      try {
        run(step);
      } catch (IOException | RuntimeException | AssertionError e) {
        throw new AssertionError(
            Suite.place(suite.name(), step.line()) + step.kind() + ": " + e.getMessage(), e);
      }
    }
  }

  private void run(Suite.Step step) throws IOException {
    if (!(step.argument() instanceof Map<?, ?> argument)) {
      String path = (String) step.argument();
      Assertions.check(step.kind(), path, value(path), null);
    } else if (step.kind().equals("do")) {
      call(new LinkedHashMap<>(argument));
    } else {
      for (Map.Entry<?, ?> entry : argument.entrySet()) {
        String path = (String) entry.getKey();
        if (step.kind().equals("set")) {
          Assertions.check("exists", path, value(path), null);
          kept.put((String) entry.getValue(), value(path));
        } else {
          Assertions.check(step.kind(), path, value(path), filled(entry.getValue()));
        }
      }
    }
  }

  /** Calls an API; anything but the status that the step expects fails. */
  private void call(Map<Object, Object> members) throws IOException {
    Object caught = members.remove("catch");
    if (members.size() != 1) {
      throw new IllegalArgumentException("a step calls one API, not " + members.keySet());
    }
    Map.Entry<Object, Object> call = members.entrySet().iterator().next();
    Map<String, String> values = new TreeMap<>();
    Object body = null;
    for (Map.Entry<?, ?> member : ((Map<?, ?>) call.getValue()).entrySet()) {
      if (member.getKey().equals("body")) {
        body = filled(member.getValue());
      } else {
        Object value = filled(member.getValue());
        values.put(
            (String) member.getKey(),
            value instanceof List<?> list
                ? list.stream().map(String::valueOf).collect(Collectors.joining(","))
                : String.valueOf(value));
      }
    }
    Object ignored = values.remove("ignore");
    ApiSpec.Target target = ApiSpec.of((String) call.getKey()).target(values, body != null);
    String type = body instanceof List ? "application/x-ndjson" : "application/json";
    NodeClient.Response response =
        client.send(target.method(), target.path(), body == null ? null : text(body), type);
    String status = String.valueOf(response.status());
    boolean fine =
        caught == null
            ? response.status() < 300 || status.equals(ignored)
            : status.equals(String.valueOf(CATCHES.get(caught)));
    if (!fine || !response.warnings().isEmpty()) {
      throw new AssertionError(
          target + " answered " + status + " " + response.body() + response.warnings());
    }
    kept.put("body", parsed(response.body()));
  }

  /** An object as JSON in one line, a text as it is, a list as lines of both. */
  private static String text(Object body) throws IOException {
    if (body instanceof String text) {
      return text;
    }
    StringBuilder lines = new StringBuilder();
    for (Object part : body instanceof List<?> list ? list : List.of(body)) {
      lines.append(part instanceof String line ? line : json((Map<?, ?>) part)).append('\n');
    }
    return lines.toString();
  }

  private static String json(Map<?, ?> object) throws IOException {
    Map<String, Object> members = new LinkedHashMap<>();
    object.forEach((key, value) -> members.put((String) key, value));
    try (XContentBuilder builder = JsonXContent.contentBuilder()) {
      return Strings.toString(builder.map(members));
    }
  }

  /** A list, an object, or a text that is neither. */
  private static Object parsed(String body) throws IOException {
    if (!body.startsWith("{") && !body.startsWith("[")) {
      return body;
    }
    try (XContentParser parser =
        JsonXContent.jsonXContent.createParser(XContentParserConfiguration.EMPTY, body)) {
      return body.startsWith("{") ? parser.mapOrdered() : parser.listOrderedMap();
    }
  }

  /**
   * Value at a path such as {@code hits.hits.0._id} of the last answer, or null where an object on
   * the way lacks the key. A dot of a key is written {@code \.}; a part may name a kept value;
   * {@code _arbitrary_key_} is the first key of an object.
   */
  private Object value(String path) {
    if (path.equals("$body")) {
      return kept.get("body");
    }
    Object value = kept.get("body");
    for (String part : path.split("(?<!\\\\)\\.")) {
      String key = String.valueOf(filled(part.replace("\\.", ".")));
      if (value instanceof Map<?, ?> map) {
        boolean first = key.equals("_arbitrary_key_") && !map.isEmpty();
        value = first ? map.keySet().iterator().next() : map.get(key);
      } else if (value instanceof List<?> list && Integer.parseInt(key) < list.size()) {
        value = list.get(Integer.parseInt(key));
      } else if (value != null) {
        throw new AssertionError("there is no [" + key + "] in [" + value + "]");
      }
    }
    return value;
  }

  /** A copy of a value in which {@code $name} and <code>${name}</code> are what was kept. */
  private Object filled(Object value) {
    if (value instanceof String text) {
      return text.matches("\\$\\w+")
          ? named(text.substring(1))
          : EMBEDDED
              .matcher(text)
              .replaceAll(m -> Matcher.quoteReplacement(String.valueOf(named(m.group(1)))));
    }
    if (value instanceof List<?> list) {
      return list.stream().map(this::filled).toList();
    }
    if (value instanceof Map<?, ?> map) {
      Map<Object, Object> copy = new LinkedHashMap<>();
      map.forEach((key, entry) -> copy.put(filled(key), filled(entry)));
      return copy;
    }
    return value;
  }

  private Object named(String name) {
    if (!kept.containsKey(name)) {
      throw new IllegalArgumentException("nothing was kept under [" + name + "]");
    }
    return kept.get(name);
  }
}
