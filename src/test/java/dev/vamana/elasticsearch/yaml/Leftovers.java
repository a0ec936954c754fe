package dev.vamana.elasticsearch.yaml;

import java.io.IOException;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Removes what a test has left in a cluster: indices, templates, pipelines, snapshot repositories
 * and cluster settings. What was there before stays. Anything else is up to the test's teardown.
 */
public final class Leftovers implements AutoCloseable {
  private final RestClient client;
  private final Set<String> indices;
  private final Set<String> legacyTemplates;
  private final Set<String> templates;
  private final Set<String> components;
  private final Set<String> pipelines;
  private final Set<String> repositories;
  private final Map<String, Object> settings;

  private Leftovers(RestClient client) throws IOException {
    this.client = client;
    indices = indices();
    legacyTemplates = names("/_template");
    legacyTemplates.add(InjectedSettings.TEMPLATE);
    templates = listed("index_template");
    components = listed("component_template");
    pipelines = names("/_ingest/pipeline");
    repositories = names("/_snapshot");
    settings = settings();
  }

  /**
   * Remembers what is there before any test.
   *
   * @param node address of a node, such as {@code http://127.0.0.1:9200}
   */
  public static Leftovers before(URI node) throws IOException {
    return before(new RestClient(node));
  }

  /** Remembers what is there before any test. */
  static Leftovers before(RestClient client) throws IOException {
    return new Leftovers(client);
  }

  /** Removes what was not there; to be called after each test. */
  public void remove() throws IOException {
    delete("/", fresh(indices(), indices));
    delete("/_index_template/", fresh(listed("index_template"), templates));
    delete("/_component_template/", fresh(listed("component_template"), components));
    delete("/_template/", fresh(names("/_template"), legacyTemplates));
    delete("/_ingest/pipeline/", fresh(names("/_ingest/pipeline"), pipelines));
    delete("/_snapshot/", fresh(names("/_snapshot"), repositories));
    Map<String, Object> now = settings();
    if (!now.equals(settings)) {
      client.call("PUT", "/_cluster/settings", Content.json(reset(now)));
    }
  }

  private static Set<String> fresh(Set<String> now, Set<String> before) {
    Set<String> fresh = new TreeSet<>(now);
    fresh.removeAll(before);
    return fresh;
  }

  private void delete(String path, Set<String> names) throws IOException {
    for (String name : names) {
      client.call("DELETE", path + name, null);
    }
  }

  /** All indices that are not the system's own. */
  private Set<String> indices() throws IOException {
    Map<String, Object> answer =
        object("/_cluster/state/metadata?filter_path=metadata.indices.*.system");
    Map<String, Object> metadata = Content.object(answer.getOrDefault("metadata", Map.of()), "");
    return Content.object(metadata.getOrDefault("indices", Map.of()), "indices").entrySet().stream()
        .filter(index -> !Boolean.TRUE.equals(((Map<?, ?>) index.getValue()).get("system")))
        .map(Map.Entry::getKey)
        .collect(Collectors.toSet());
  }

  private Set<String> names(String path) throws IOException {
    // without a single one some of these answer 404
    RestResponse response = client.send(new RestClient.Request("GET", path, Map.of(), null), null);
    if (response.failed() && response.status() != 404) {
      throw new IOException("GET " + path + " answered " + response.shown());
    }
    return new TreeSet<>(Content.object(response.body(), path).keySet());
  }

  private Set<String> listed(String kind) throws IOException {
    Set<String> names = new TreeSet<>();
    for (Object entry : (List<?>) object("/_" + kind).get(kind + "s")) {
      names.add((String) ((Map<?, ?>) entry).get("name"));
    }
    return names;
  }

  private Map<String, Object> settings() throws IOException {
    return object("/_cluster/settings?flat_settings=true");
  }

  /** The settings as they were, and null for those that there were not. */
  private Map<String, Object> reset(Map<String, Object> now) {
    Map<String, Object> reset = new LinkedHashMap<>();
    for (String kind : List.of("persistent", "transient")) {
      Map<String, Object> values = new LinkedHashMap<>();
      Content.object(now.get(kind), kind).keySet().forEach(name -> values.put(name, null));
      values.putAll(Content.object(settings.get(kind), kind));
      reset.put(kind, values);
    }
    return reset;
  }

  private Map<String, Object> object(String path) throws IOException {
    return Content.object(client.call("GET", path, null), path);
  }

  private Leftovers(RestClient client, Leftovers other) {
    this.client = client;
    indices = other.indices;
    legacyTemplates = other.legacyTemplates;
    templates = other.templates;
    components = other.components;
    pipelines = other.pipelines;
    repositories = other.repositories;
    settings = other.settings;
  }

  /** The same memory of the same cluster, a node of which has another address now. */
  public Leftovers at(URI node) {
    close();
    return new Leftovers(new RestClient(node), this);
  }

  /** Ends the connections. */
  @Override
  public void close() {
    client.close();
  }
}
