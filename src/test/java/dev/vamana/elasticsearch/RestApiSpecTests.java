package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;

import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.xcontent.XContentHelper;
import org.elasticsearch.plugins.ActionPlugin.RestHandlersServices;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestHandler;
import org.elasticsearch.xcontent.json.JsonXContent;
import org.junit.Test;

/** The descriptions in {@code rest-api-spec} have the methods and paths of our endpoints. */
public class RestApiSpecTests {

  private static final Path DESCRIPTIONS =
      Path.of("rest-api-spec/src/main/resources/rest-api-spec/api");

  private static Map<String, Set<String>> routes() {
    Map<String, Set<String>> routes = new TreeMap<>();
    VamanaPlugin plugin = new VamanaPlugin(Settings.EMPTY);
    RestHandlersServices services = new RestHandlersServices(Settings.EMPTY, null, null, null);
    for (RestHandler handler : plugin.getRestHandlers(services, () -> null, feature -> true)) {
      String name = ((BaseRestHandler) handler).getName().replaceFirst("_", ".");
      Set<String> ofHandler = routes.computeIfAbsent(name, key -> new TreeSet<>());
      handler.routes().forEach(route -> ofHandler.add(route.getMethod() + " " + route.getPath()));
    }
    return routes;
  }

  private static Set<String> described(Path file, String name) throws IOException {
    Set<String> routes = new TreeSet<>();
    try (InputStream in = Files.newInputStream(file)) {
      Object json = XContentHelper.convertToMap(JsonXContent.jsonXContent, in, true).get(name);
      for (Object path : (List<?>) NodeClient.at(json, "url", "paths")) {
        for (Object method : (List<?>) NodeClient.at(path, "methods")) {
          routes.add(method + " " + NodeClient.at(path, "path"));
        }
      }
    }
    return routes;
  }

  @Test
  public void testDescriptionsAreThoseOfTheRoutes() throws IOException {
    Map<String, Set<String>> described = new TreeMap<>();
    try (Stream<Path> files = Files.list(DESCRIPTIONS)) {
      for (Path file : files.toList()) {
        String name = file.getFileName().toString().replace(".json", "");
        described.put(name, described(file, name));
      }
    }
    assertEquals(routes(), described);
  }
}
