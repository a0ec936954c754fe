package dev.vamana.elasticsearch.yaml;

import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** {@code do}: a call of an API, and how it is to end. */
final class DoStep implements Step {
  private static final Set<Integer> NAMED = Set.of(400, 401, 403, 404, 408, 409, 410);
  private static final Map<String, Integer> CATCHES =
      Map.of(
          "bad_request", 400,
          "unauthorized", 401,
          "forbidden", 403,
          "missing", 404,
          "request_timeout", 408,
          "conflict", 409,
          "gone", 410,
          "unavailable", 503);

  private final String api;
  private final Map<String, Object> params;
  private final CallBody body;
  private final String caught;
  private final Map<String, String> headers;
  private final Warnings warnings;
  private final NodeSelector selector;

  private DoStep(
      String api,
      Map<String, Object> arguments,
      String caught,
      Map<String, String> headers,
      Warnings warnings,
      NodeSelector selector) {
    this.api = api;
    this.params = new LinkedHashMap<>(arguments);
    this.body = arguments.containsKey("body") ? CallBody.parse(params.remove("body")) : null;
    this.caught = caught;
    this.headers = headers;
    this.warnings = warnings;
    this.selector = selector;
  }

  /** Reads a step; see {@link Step#parse}. */
  static DoStep parse(Object argument) {
    Map<String, Object> members = new LinkedHashMap<>(Content.object(argument, "[do]"));
    String caught =
        members.containsKey("catch") ? Content.text(members.remove("catch"), "[catch]") : null;
    if (caught != null
        && !CATCHES.containsKey(caught)
        && !Set.of("request", "param").contains(caught)
        && !Assertions.isRegex(caught)) {
      throw new IllegalArgumentException("unknown [catch: " + caught + "]");
    }
    Map<String, String> headers = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    if (members.containsKey("headers")) {
      Content.object(members.remove("headers"), "[headers]")
          .forEach((name, value) -> headers.put(name, scalar(value, "header [" + name + "]")));
    }
    Warnings warnings = Warnings.take(members);
    NodeSelector selector =
        members.containsKey("node_selector")
            ? NodeSelector.parse(members.remove("node_selector"))
            : NodeSelector.ANY;
    if (members.size() != 1) {
      throw new IllegalArgumentException("[do] takes one API to call, has " + members.keySet());
    }
    String api = members.keySet().iterator().next();
    return new DoStep(
        api,
        Content.object(members.get(api), "[" + api + "]"),
        caught,
        headers,
        warnings,
        selector);
  }

  /** The API that is called. */
  String api() {
    return api;
  }

  @Override
  public void run(Execution execution) throws IOException {
    Map<String, String> values = new LinkedHashMap<>();
    params.forEach(
        (name, value) -> values.put(name, parameter(name, execution.stash().fill(value))));
    Set<String> ignored = ignored(values.remove("ignore"));
    ApiSpec spec = execution.specs().get(api);
    ApiSpec.Target target;
    try {
      values.putIfAbsent("error_trace", "true");
      target = spec.target(values, body != null, execution.specs().common());
    } catch (IllegalArgumentException e) {
      if ("param".equals(caught)) {
        return;
      }
      throw e;
    }
    if ("param".equals(caught)) {
      throw new AssertionError("[" + api + "] takes the parameters " + values.keySet());
    }
    Map<String, String> sent = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    headers.forEach((name, value) -> sent.put(name, (String) execution.stash().fill(value)));
    byte[] bytes = execution.injected().body(api, body, spec, sent, execution.stash());
    RestClient.Request request =
        new RestClient.Request(target.method(), target.path(), sent, bytes);
    RestResponse response = execution.send(request, selector.address(execution.cluster()));
    check(target, response, ignored, execution.injected().allowedWarnings(api));
  }

  private void check(
      ApiSpec.Target target, RestResponse response, Set<String> ignored, List<Pattern> allowed) {
    String what = "[" + target.method() + " " + target.path() + "]";
    if (caught != null) {
      if (!response.failed()) {
        throw new AssertionError(
            what + " should fail with [" + caught + "] but answered " + response.shown());
      }
      if (!isCaught(response)) {
        throw new AssertionError(
            what + " should fail with [" + caught + "] but failed with " + response.shown());
      }
      if (!warnings.expectsAny()) {
        return;
      }
    } else if (response.failed() && !ignored.contains(String.valueOf(response.status()))) {
      throw new AssertionError(what + " failed with " + response.shown());
    }
    warnings.check(what, response.warnings(), allowed);
  }

  private boolean isCaught(RestResponse response) {
    if (CATCHES.containsKey(caught)) {
      return response.status() == CATCHES.get(caught);
    }
    if (caught.equals("request")) {
      return !NAMED.contains(response.status());
    }
    Object error = response.body() instanceof Map<?, ?> map ? map.get("error") : null;
    String regex = caught.substring(1, caught.length() - 1);
    return error != null && Pattern.compile(regex).matcher(error.toString()).find();
  }

  private static Set<String> ignored(String statuses) {
    return statuses == null ? Set.of() : Set.of(statuses.split(","));
  }

  private static String parameter(String name, Object value) {
    if (value instanceof List<?> list) {
      return list.stream()
          .map(entry -> scalar(entry, "each of [" + name + "]"))
          .collect(Collectors.joining(","));
    }
    return scalar(value, "[" + name + "]");
  }

  private static String scalar(Object value, String what) {
    if (value instanceof String || value instanceof Number || value instanceof Boolean) {
      return value.toString();
    }
    throw new IllegalArgumentException(what + " has to be a scalar, is [" + value + "]");
  }
}
