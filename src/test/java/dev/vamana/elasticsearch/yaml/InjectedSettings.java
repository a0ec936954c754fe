package dev.vamana.elasticsearch.yaml;

import java.io.IOException;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.elasticsearch.common.settings.Settings;

/**
 * Index settings that every index gets which the tests create: by a template, by the bodies of
 * calls that create an index, and by templates of the tests. What a test sets itself stays.
 *
 * @param settings by their full names
 */
public record InjectedSettings(Map<String, String> settings) {
  /** No settings. */
  public static final InjectedSettings NONE = new InjectedSettings(Map.of());

  /** Name of the template. */
  static final String TEMPLATE = "injected-by-the-yaml-runner";

  private static final List<Pattern> WARNINGS_OF_TEMPLATES =
      List.of(
          Pattern.compile(".*matching patterns from existing older templates.*"),
          Pattern.compile(".*matches multiple legacy templates.*"));
  private static final List<Pattern> LEGACY_TEMPLATES =
      List.of(Pattern.compile("Legacy index templates are deprecated.*"));

  /** Copies the settings. */
  public InjectedSettings {
    settings = Collections.unmodifiableMap(new TreeMap<>(settings));
  }

  /**
   * Settings of a list.
   *
   * @param list such as {@code index.vamana.enabled=true,index.vamana.max_degree=16}; may be empty
   */
  public static InjectedSettings of(String list) {
    Map<String, String> settings = new TreeMap<>();
    for (String entry : list.split(",")) {
      if (!entry.isBlank()) {
        int equals = entry.indexOf('=');
        if (!entry.strip().startsWith("index.") || equals < 0) {
          throw new IllegalArgumentException("[" + entry + "] is not like index.name=value");
        }
        settings.put(entry.substring(0, equals).strip(), entry.substring(equals + 1).strip());
      }
    }
    return new InjectedSettings(settings);
  }

  /** Puts the template into the cluster. */
  void install(RestClient client) throws IOException {
    if (!settings.isEmpty()) {
      Map<String, Object> template =
          Map.of("index_patterns", List.of("*"), "order", -1, "settings", settings);
      client.call("PUT", "/_template/" + TEMPLATE, Content.json(template));
    }
  }

  /** Takes the template away. */
  void remove(RestClient client) throws IOException {
    if (!settings.isEmpty()) {
      client.call("DELETE", "/_template/" + TEMPLATE, null);
    }
  }

  /** Warnings that a call may bring because of the settings, or because of how old it is. */
  List<Pattern> allowedWarnings(String api) {
    if (api.equals("indices.put_template")) {
      return LEGACY_TEMPLATES;
    }
    return settings.isEmpty() ? List.of() : WARNINGS_OF_TEMPLATES;
  }

  /**
   * The bytes of a call's body, with the settings where it creates indices.
   *
   * @param body or null if the call has none
   * @param headers gets a content type unless it has one
   * @return the bytes, or null for none
   */
  byte[] body(String api, CallBody body, ApiSpec spec, Map<String, String> headers, Stash stash)
      throws IOException {
    CallBody changed = settings.isEmpty() ? body : changed(api, body);
    return changed == null ? null : changed.bytes(spec, headers, stash);
  }

  private CallBody changed(String api, CallBody body) throws IOException {
    List<String> container =
        switch (api) {
          case "indices.create", "indices.put_template" -> List.of();
          case "indices.put_index_template" -> List.of("template");
          default -> null;
        };
    if (container == null) {
      return body;
    }
    Map<String, Object> object = body == null ? Map.of() : body.onlyObject();
    // a body that is no object is sent as it is, for the node to refuse
    return object == null ? body : new CallBody(List.of(withSettings(object, container)), false);
  }

  private Map<String, Object> withSettings(Map<String, Object> object, List<String> container) {
    Map<String, Object> copy = new LinkedHashMap<>(object);
    if (!container.isEmpty()) {
      String member = container.get(0);
      Map<String, Object> inner = member(copy, member);
      copy.put(member, withSettings(inner, container.subList(1, container.size())));
      return copy;
    }
    Map<String, Object> own = member(copy, "settings");
    Settings known = Settings.builder().loadFromMap(own).normalizePrefix("index.").build();
    Map<String, Object> all = new LinkedHashMap<>(own);
    settings.forEach(
        (name, value) -> {
          if (!known.hasValue(name)) {
            all.put(name, value);
          }
        });
    copy.put("settings", all);
    return copy;
  }

  private static Map<String, Object> member(Map<String, Object> object, String name) {
    Object value = object.get(name);
    return value == null ? Map.of() : Content.object(value, "[" + name + "]");
  }
}
