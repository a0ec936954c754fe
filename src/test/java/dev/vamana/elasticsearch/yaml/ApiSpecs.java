package dev.vamana.elasticsearch.yaml;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;

/** Descriptions of APIs: ours from the repository, Elasticsearch's from its published jar. */
public final class ApiSpecs {
  /** The folder of our descriptions. */
  public static final Path OURS = Path.of("rest-api-spec/src/main/resources/rest-api-spec/api");

  private static final String RESOURCES = "rest-api-spec/api/";
  private static final String COMMON = "_common";

  private final Map<String, ApiSpec> specs = new TreeMap<>();
  private final Set<String> common;

  /** Ours and, when they are asked for, Elasticsearch's. */
  public ApiSpecs() throws IOException {
    for (ApiSpec spec : ours()) {
      specs.put(spec.name(), spec);
    }
    Map<String, Object> file = Content.object(Content.json(resource(COMMON)).get(0), COMMON);
    common = new TreeSet<>(Content.object(file.get("params"), "params").keySet());
  }

  /**
   * Our descriptions.
   *
   * @throws IllegalArgumentException if a file is not named after its API
   */
  public static List<ApiSpec> ours() throws IOException {
    try (Stream<Path> files = Files.list(OURS)) {
      return files.sorted().map(ApiSpecs::read).toList();
    }
  }

  private static ApiSpec read(Path file) {
    try {
      ApiSpec spec = ApiSpec.parse(Files.readString(file));
      if (!file.getFileName().toString().equals(spec.name() + ".json")) {
        throw new IllegalArgumentException(file + " describes the API [" + spec.name() + "]");
      }
      return spec;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String resource(String name) throws IOException {
    try (InputStream in =
        ApiSpecs.class.getClassLoader().getResourceAsStream(RESOURCES + name + ".json")) {
      if (in == null) {
        throw new IllegalArgumentException("there is no API [" + name + "]");
      }
      return new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }

  /** Names of parameters that every API takes. */
  Set<String> common() {
    return common;
  }

  /**
   * The description of an API.
   *
   * @throws IllegalArgumentException if there is none
   */
  ApiSpec get(String name) {
    ApiSpec spec = specs.get(name);
    if (spec == null) {
      try {
        spec = ApiSpec.parse(resource(name));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
      specs.put(name, spec);
    }
    return spec;
  }
}
