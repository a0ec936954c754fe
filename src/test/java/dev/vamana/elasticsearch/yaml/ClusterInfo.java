package dev.vamana.elasticsearch.yaml;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** What tests may require of a cluster; asked for once. */
final class ClusterInfo {
  private static final String VERSION_FEATURE = "gte_v";

  private final RestClient client;
  private List<Node> nodes;
  private Set<String> features;

  ClusterInfo(RestClient client) {
    this.client = client;
  }

  /**
   * A node.
   *
   * @param version such as {@code 9.5.3}
   * @param httpAddress as {@code host:port}
   * @param attributes of the node
   * @param os the operating system's name
   * @param modules names of the modules
   */
  record Node(
      String version,
      String httpAddress,
      Map<String, Object> attributes,
      String os,
      List<String> modules) {}

  /**
   * A call whose details a cluster may or may not know.
   *
   * @param method the HTTP method
   * @param path the path
   * @param parameters separated by commas, or null
   * @param capabilities separated by commas, or null
   */
  record Capability(String method, String path, String parameters, String capabilities) {}

  List<Node> nodes() throws IOException {
    if (nodes == null) {
      Map<String, Object> answer = object("/_nodes/os,http,plugins");
      nodes = new ArrayList<>();
      Content.object(answer.get("nodes"), "nodes")
          .values()
          .forEach(node -> nodes.add(node(Content.object(node, "a node"))));
    }
    return nodes;
  }

  private static Node node(Map<String, Object> json) {
    List<String> modules = new ArrayList<>();
    for (Object module : (List<?>) json.getOrDefault("modules", List.of())) {
      modules.add((String) ((Map<?, ?>) module).get("name"));
    }
    Map<String, Object> http = Content.object(json.get("http"), "http");
    String address = (String) http.get("publish_address");
    return new Node(
        (String) json.get("version"),
        address.substring(address.indexOf('/') + 1),
        Content.object(json.getOrDefault("attributes", Map.of()), "attributes"),
        (String) Content.object(json.get("os"), "os").get("pretty_name"),
        modules);
  }

  /** Whether every node has a feature; {@code gte_v9.1.0} asks for its version. */
  boolean hasFeature(String feature) throws IOException {
    if (feature.startsWith(VERSION_FEATURE)) {
      String version = feature.substring(VERSION_FEATURE.length());
      for (Node node : nodes()) {
        if (ClusterVersion.compare(node.version(), version) < 0) {
          return false;
        }
      }
      return true;
    }
    if (features == null) {
      features = commonFeatures();
    }
    return features.contains(feature);
  }

  private Set<String> commonFeatures() throws IOException {
    Set<String> common = null;
    Map<String, Object> answer = object("/_cluster/state?filter_path=nodes_features");
    for (Object node : (List<?>) answer.get("nodes_features")) {
      Set<String> ofNode = new HashSet<>();
      ((List<?>) ((Map<?, ?>) node).get("features")).forEach(name -> ofNode.add((String) name));
      if (common == null) {
        common = ofNode;
      }
      common.retainAll(ofNode);
    }
    return common;
  }

  /** Whether every node knows all of a call's details. */
  boolean hasCapability(Capability wanted) throws IOException {
    String path = "/_capabilities?method=" + wanted.method() + "&path=" + encode(wanted.path());
    if (wanted.parameters() != null) {
      path += "&parameters=" + encode(wanted.parameters());
    }
    if (wanted.capabilities() != null) {
      path += "&capabilities=" + encode(wanted.capabilities());
    }
    return Boolean.TRUE.equals(object(path).get("supported"));
  }

  /** Whether the commercial modules are there. */
  boolean hasXpack() throws IOException {
    for (Node node : nodes()) {
      if (node.modules().stream().anyMatch(name -> name.startsWith("x-pack"))) {
        return true;
      }
    }
    return false;
  }

  private Map<String, Object> object(String path) throws IOException {
    return Content.object(client.call("GET", path, null), path);
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}
