package dev.vamana.elasticsearch.yaml;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * An API as its description has it.
 *
 * @param name such as {@code indices.create}
 * @param paths its paths
 * @param params names of its own parameters
 * @param required those that have to be given
 * @param body whether a request may have a body, or has to
 * @param contentTypes of bodies, the usual first
 */
public record ApiSpec(
    String name,
    List<Path> paths,
    Set<String> params,
    Set<String> required,
    Body body,
    List<String> contentTypes) {
  private static final Pattern PART = Pattern.compile("\\{([^}]+)}");
  private static final Set<String> METHODS = Set.of("GET", "PUT", "POST", "DELETE", "HEAD");

  /** Whether requests have a body. */
  enum Body {
    NONE,
    OPTIONAL,
    REQUIRED
  }

  /**
   * A path and the methods that it takes.
   *
   * @param template with parts in braces
   * @param methods in the order of the description
   * @param deprecated whether other paths are to be preferred
   */
  public record Path(String template, List<String> methods, boolean deprecated) {

    /** Names of the parts. */
    Set<String> parts() {
      Set<String> parts = new TreeSet<>();
      PART.matcher(template).results().forEach(match -> parts.add(match.group(1)));
      return parts;
    }

    private String fill(Map<String, String> values) {
      return PART.matcher(template)
          .replaceAll(
              match -> Matcher.quoteReplacement(ApiSpec.encode(values.get(match.group(1)))));
    }
  }

  /**
   * Where a call goes.
   *
   * @param method the HTTP method
   * @param path path and parameters
   */
  record Target(String method, String path) {}

  /**
   * Reads a description.
   *
   * @param json the file's text
   * @throws IllegalArgumentException if something in it is missing, wrong or unknown
   */
  public static ApiSpec parse(String json) throws IOException {
    Map<String, Object> file = Content.object(Content.json(json).get(0), "the file");
    if (file.size() != 1) {
      throw new IllegalArgumentException("the file has to describe one API: " + file.keySet());
    }
    String name = file.keySet().iterator().next();
    try {
      return parse(name, Content.object(file.get(name), "the API"));
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException("API [" + name + "]: " + e.getMessage(), e);
    }
  }

  private static ApiSpec parse(String name, Map<String, Object> api) {
    known(
        "the API",
        api,
        "documentation stability visibility feature_flag deprecated headers" + " url params body");
    for (String key : List.of("documentation", "stability", "visibility", "headers", "url")) {
      if (!api.containsKey(key)) {
        throw new IllegalArgumentException("[" + key + "] is missing");
      }
    }
    Map<String, Object> headers = Content.object(api.get("headers"), "headers");
    known("headers", headers, "accept content_type");
    Map<String, Object> url = Content.object(api.get("url"), "url");
    known("url", url, "paths");
    List<Path> paths = new ArrayList<>();
    for (Object path : (List<?>) url.get("paths")) {
      paths.add(path(Content.object(path, "a path")));
    }
    Set<String> params = new TreeSet<>();
    Set<String> required = new TreeSet<>();
    Content.object(api.getOrDefault("params", Map.of()), "params")
        .forEach(
            (param, description) -> {
              Map<String, Object> details = described("parameter [" + param + "]", description);
              params.add(param);
              if (Boolean.TRUE.equals(details.get("required"))) {
                required.add(param);
              }
            });
    Body body = Body.NONE;
    if (api.get("body") != null) {
      Map<String, Object> details = Content.object(api.get("body"), "body");
      known("body", details, "description required serialize");
      body = Boolean.TRUE.equals(details.get("required")) ? Body.REQUIRED : Body.OPTIONAL;
    }
    List<String> types =
        headers.containsKey("content_type")
            ? Content.texts(headers.get("content_type"), "content_type")
            : List.of();
    return new ApiSpec(name, List.copyOf(paths), params, required, body, types);
  }

  private static Path path(Map<String, Object> json) {
    known("a path", json, "path methods parts deprecated");
    Path path =
        new Path(
            Content.text(json.get("path"), "path"),
            Content.texts(json.get("methods"), "methods"),
            json.containsKey("deprecated"));
    Map<String, Object> parts = Content.object(json.getOrDefault("parts", Map.of()), "parts");
    parts.forEach((part, description) -> described("part [" + part + "]", description));
    if (!path.parts().equals(parts.keySet())) {
      throw new IllegalArgumentException(
          "path [" + path.template() + "] has other parts than are described: " + parts.keySet());
    }
    if (path.methods().isEmpty() || !METHODS.containsAll(path.methods())) {
      throw new IllegalArgumentException("methods have to be of " + METHODS);
    }
    return path;
  }

  private static Map<String, Object> described(String what, Object json) {
    Map<String, Object> details = Content.object(json, what);
    known(
        what,
        details,
        "type description default options deprecated required visibility" + " feature_flag");
    Content.text(details.get("type"), "type of " + what);
    Content.text(details.get("description"), "description of " + what);
    return details;
  }

  private static void known(String what, Map<String, Object> json, String keys) {
    Set<String> unknown = new TreeSet<>(json.keySet());
    unknown.removeAll(Set.of(keys.split(" ")));
    if (!unknown.isEmpty()) {
      throw new IllegalArgumentException("unknown " + unknown + " in " + what);
    }
  }

  /**
   * Chooses the path that takes the most of the given values as parts; the others become
   * parameters.
   *
   * @param values of parts and parameters
   * @param hasBody whether the call has a body
   * @param common names of parameters that every API takes
   * @throws IllegalArgumentException if a value belongs nowhere or one is missing, or there is a
   *     body where none may be, or none where one has to be
   */
  Target target(Map<String, String> values, boolean hasBody, Set<String> common) {
    if (hasBody && body == Body.NONE) {
      throw new IllegalArgumentException("[" + name + "] takes no body");
    }
    if (!hasBody && body == Body.REQUIRED && !values.containsKey("source")) {
      throw new IllegalArgumentException("[" + name + "] needs a body");
    }
    Path best = null;
    for (Path path : paths) {
      if (values.keySet().containsAll(path.parts())
          && (best == null
              || path.parts().size() > best.parts().size()
              || (path.parts().size() == best.parts().size()
                  && best.deprecated()
                  && !path.deprecated()))) {
        best = path;
      }
    }
    if (best == null) {
      throw new IllegalArgumentException(
          "no path of [" + name + "] does with the parts among " + values.keySet());
    }
    Map<String, String> params = new LinkedHashMap<>(values);
    params.keySet().removeAll(best.parts());
    for (String param : params.keySet()) {
      if (!params().contains(param) && !common.contains(param)) {
        throw new IllegalArgumentException(
            "[" + name + "] has no part or parameter [" + param + "]");
      }
    }
    if (!params.keySet().containsAll(required)) {
      throw new IllegalArgumentException("[" + name + "] needs the parameters " + required);
    }
    Map<String, String> parts = new HashMap<>(values);
    parts.keySet().retainAll(best.parts());
    parts.forEach(
        (part, value) -> {
          if (value.isEmpty()) {
            throw new IllegalArgumentException("part [" + part + "] of [" + name + "] is empty");
          }
        });
    return new Target(method(best, hasBody), best.fill(parts) + query(params));
  }

  private static String method(Path path, boolean hasBody) {
    return path.methods().stream()
        .filter(method -> !hasBody || !Set.of("GET", "HEAD").contains(method))
        .findFirst()
        .orElse(path.methods().get(0));
  }

  private static String query(Map<String, String> params) {
    StringBuilder query = new StringBuilder();
    params.forEach(
        (param, value) ->
            query
                .append(query.isEmpty() ? '?' : '&')
                .append(encode(param))
                .append('=')
                .append(encode(value)));
    return query.toString();
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20").replace("%2C", ",");
  }
}
