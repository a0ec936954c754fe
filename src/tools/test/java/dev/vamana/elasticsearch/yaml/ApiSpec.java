package dev.vamana.elasticsearch.yaml;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.xcontent.json.JsonXContent;

/**
 * An API as its description has it: ours from the repository, Elasticsearch's from its published
 * jar.
 *
 * @param name such as {@code indices.create}
 * @param paths its paths
 * @param params names of its own parameters
 */
public record ApiSpec(String name, List<Path> paths, Set<String> params) {
  private static final java.nio.file.Path OURS =
      java.nio.file.Path.of("rest-api-spec/src/main/resources/rest-api-spec/api");
  private static final Set<String> COMMON = Set.of("pretty", "human", "error_trace", "filter_path");
  private static final Pattern PART = Pattern.compile("\\{([^}]+)}");

  /**
   * A path and the methods that it takes.
   *
   * @param template with parts in braces
   * @param methods in the order of the description
   */
  public record Path(String template, List<String> methods) {
    private Set<String> parts() {
      Set<String> parts = new TreeSet<>();
      PART.matcher(template).results().forEach(match -> parts.add(match.group(1)));
      return parts;
    }
  }

  /**
   * Where a call goes.
   *
   * @param method the HTTP method
   * @param path path and parameters
   */
  record Target(String method, String path) {}

  /** Our descriptions; each lies in the file of its name. */
  public static List<ApiSpec> ours() throws IOException {
    List<ApiSpec> specs = new ArrayList<>();
    try (Stream<java.nio.file.Path> files = Files.list(OURS)) {
      for (java.nio.file.Path file : files.sorted().toList()) {
        specs.add(of(file.getFileName().toString().replace(".json", "")));
      }
    }
    return specs;
  }

  /**
   * The description of an API.
   *
   * @throws IllegalArgumentException if there is none
   */
  static ApiSpec of(String name) throws IOException {
    java.nio.file.Path file = OURS.resolve(name + ".json");
    try (InputStream in =
        Files.exists(file)
            ? Files.newInputStream(file)
            : ApiSpec.class.getResourceAsStream("/rest-api-spec/api/" + name + ".json")) {
      if (in == null) {
        throw new IllegalArgumentException("there is no API [" + name + "]");
      }
      Object json = XContentHelper.convertToMap(JsonXContent.jsonXContent, in, true).get(name);
      List<Path> paths = new ArrayList<>();
      for (Object path : (List<?>) NodeClient.at(json, "url", "paths")) {
        List<String> methods =
            ((List<?>) NodeClient.at(path, "methods")).stream().map(String::valueOf).toList();
        paths.add(new Path((String) NodeClient.at(path, "path"), methods));
      }
      Set<String> params = new TreeSet<>(COMMON);
      if (NodeClient.at(json, "params") instanceof Map<?, ?> own) {
        own.keySet().forEach(param -> params.add((String) param));
      }
      return new ApiSpec(name, paths, params);
    }
  }

  /**
   * Chooses the path that takes the most of the given values as parts; the others become
   * parameters.
   *
   * @param values of parts and parameters
   * @param hasBody whether the call has a body
   * @throws IllegalArgumentException if a value belongs nowhere or a part is missing
   */
  Target target(Map<String, String> values, boolean hasBody) {
    Path best =
        paths.stream()
            .filter(path -> values.keySet().containsAll(path.parts()))
            .max(Comparator.comparingInt(path -> path.parts().size()))
            .orElseThrow(() -> new IllegalArgumentException(name + " lacks parts: " + values));
    Map<String, String> rest = new TreeMap<>(values);
    rest.keySet().removeAll(best.parts());
    StringBuilder path =
        new StringBuilder(
            PART.matcher(best.template())
                .replaceAll(part -> Matcher.quoteReplacement(encode(values.get(part.group(1))))));
    rest.forEach(
        (param, value) -> {
          if (!params.contains(param)) {
            throw new IllegalArgumentException(name + " has no part or parameter [" + param + "]");
          }
          path.append(path.indexOf("?") < 0 ? '?' : '&').append(param).append('=');
          path.append(encode(value));
        });
    String method =
        best.methods().stream()
            .filter(candidate -> !hasBody || !candidate.equals("GET"))
            .findFirst()
            .orElse("GET");
    return new Target(method, path.toString());
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, UTF_8).replace("+", "%20").replace("%2C", ",");
  }
}
