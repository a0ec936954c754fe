package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.yaml.ApiSpec;
import dev.vamana.elasticsearch.yaml.Suite;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.plugins.ActionPlugin.RestHandlersServices;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestHandler;
import org.junit.Test;

/** Every endpoint of the plugin is described, and has tests in YAML. */
public class RestApiSpecTests {

  /** Methods and paths of each endpoint, by the name that its description has to have. */
  private static Map<String, Set<String>> routes() {
    Map<String, Set<String>> routes = new TreeMap<>();
    VamanaPlugin plugin = new VamanaPlugin(Settings.EMPTY);
    RestHandlersServices services = new RestHandlersServices(Settings.EMPTY, null, null, null);
    for (RestHandler handler : plugin.getRestHandlers(services, () -> null, feature -> true)) {
      String name = ((BaseRestHandler) handler).getName().replaceFirst("_", ".");
      Set<String> ofHandler = routes.computeIfAbsent(name, key -> new TreeSet<>());
      handler
          .routes()
          .forEach(
              route -> assertTrue(name, ofHandler.add(route.getMethod() + " " + route.getPath())));
    }
    return routes;
  }

  @Test
  public void testDescriptionsAreThoseOfTheRoutes() throws IOException {
    Map<String, Set<String>> described = new TreeMap<>();
    for (ApiSpec spec : ApiSpec.ours()) {
      Set<String> ofSpec = described.computeIfAbsent(spec.name(), key -> new TreeSet<>());
      spec.paths()
          .forEach(path -> path.methods().forEach(m -> ofSpec.add(m + " " + path.template())));
    }
    assertEquals(routes(), described);
  }

  @Test
  public void testEveryEndpointHasTestsInAFolderOfItsName() throws IOException {
    Map<String, Set<String>> called = new TreeMap<>();
    for (Suite suite : Suite.in(YamlRestIT.OURS)) {
      String folder = suite.name().substring(0, suite.name().indexOf('/'));
      called.computeIfAbsent(folder, key -> new TreeSet<>()).addAll(suite.apis());
    }
    assertEquals(routes().keySet(), called.keySet());
    called.forEach((name, apis) -> assertTrue(name + " is not called", apis.contains(name)));
  }
}
