package dev.vamana.elasticsearch;

import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Removes leftovers of a test in a cluster: indices, templates, pipelines, snapshot repositories
 * and cluster settings. Older ones stay. Anything else is up to the test's teardown.
 */
final class Leftovers {
  private static final List<String> KINDS =
      List.of(
          "/",
          "/_index_template/",
          "/_component_template/",
          "/_template/",
          "/_ingest/pipeline/",
          "/_snapshot/");

  private final NodeClient client;
  private final Map<String, Set<String>> before;
  private final Map<String, Object> settings;

  private Leftovers(
      NodeClient client, Map<String, Set<String>> before, Map<String, Object> settings) {
    this.client = client;
    this.before = before;
    this.settings = settings;
  }

  /** Remembers what is there before any test. */
  static Leftovers before(NodeClient client) throws IOException {
    Map<String, Set<String>> before = new TreeMap<>();
    for (String kind : KINDS) {
      before.put(kind, names(client, kind));
    }
    return new Leftovers(client, before, settings(client));
  }

  /** The same memory of the same cluster, a node of which has another address now. */
  Leftovers at(NodeClient other) {
    return new Leftovers(other, before, settings);
  }

  /** Removes what was not there; to be called after each test. */
  void remove() throws IOException {
    for (String kind : KINDS) {
      Set<String> fresh = names(client, kind);
      fresh.removeAll(before.get(kind));
      for (String name : fresh) {
        client.delete(kind + name);
      }
    }
    for (String name : settings(client).keySet()) {
      if (!settings.containsKey(name)) {
        client.set(name, null);
      }
    }
  }

  private static Set<String> names(NodeClient client, String kind) throws IOException {
    Set<String> names = new TreeSet<>();
    if (kind.equals("/")) {
      Object indices = client.get("/_cluster/state/metadata?filter_path=metadata.indices.*.system");
      if (NodeClient.at(indices, "metadata", "indices") instanceof Map<?, ?> all) {
        all.forEach(
            (name, index) -> {
              if (NodeClient.at(index, "system").equals(false)) {
                names.add((String) name);
              }
            });
      }
    } else if (kind.endsWith("t_template/") || kind.endsWith("x_template/")) {
      String list = kind.substring(2, kind.length() - 1) + "s";
      for (Object entry : (List<?>) client.get(kind.substring(0, kind.length() - 1)).get(list)) {
        names.add((String) NodeClient.at(entry, "name"));
      }
    } else {
      // without a single one some of these answer 404
      names.addAll(client.send("GET", kind, null, "application/json").json().keySet());
    }
    return names;
  }

  @SuppressWarnings("unchecked")
  private static Map<String, Object> settings(NodeClient client) throws IOException {
    return (Map<String, Object>)
        client.get("/_cluster/settings?flat_settings=true").get("persistent");
  }
}
