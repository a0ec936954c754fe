package dev.vamana.elasticsearch.yaml;

import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Steps that keep something of an answer. */
final class Keeping {
  private static final Pattern CREDENTIALS =
      Pattern.compile("#base64EncodeCredentials\\(([^,]+),([^,]+)\\)");

  private Keeping() {}

  /** {@code set: { path: name }}. */
  static Step set(Object argument) {
    Map<String, String> names = texts(argument, "[set]");
    return execution ->
        names.forEach((path, name) -> execution.stash().put(name, found(execution, path)));
  }

  /** {@code transform_and_set: { name: "#base64EncodeCredentials(user,password)" }}. */
  static Step transformAndSet(Object argument) {
    Map<String, String> transformations = texts(argument, "[transform_and_set]");
    transformations.values().forEach(Keeping::credentials);
    return execution ->
        transformations.forEach(
            (name, transformation) -> {
              Matcher paths = credentials(transformation);
              String pair =
                  found(execution, paths.group(1)) + ":" + found(execution, paths.group(2));
              byte[] bytes = pair.getBytes(StandardCharsets.UTF_8);
              execution.stash().put(name, Base64.getEncoder().encodeToString(bytes));
            });
  }

  private static Matcher credentials(String transformation) {
    Matcher matcher = CREDENTIALS.matcher(transformation);
    if (!matcher.matches()) {
      throw new IllegalArgumentException("unknown transformation [" + transformation + "]");
    }
    return matcher;
  }

  private static Object found(Execution execution, String path) {
    Object value = execution.value(path);
    if (value == null) {
      throw new AssertionError("there is nothing at [" + path + "] to be kept");
    }
    return value;
  }

  private static Map<String, String> texts(Object argument, String what) {
    Map<String, String> texts = new LinkedHashMap<>();
    Content.object(argument, what)
        .forEach((key, value) -> texts.put(key, Content.text(value, what)));
    if (texts.isEmpty()) {
      throw new IllegalArgumentException(what + " is empty");
    }
    return texts;
  }
}
