package dev.vamana.elasticsearch.yaml;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** {@code requires} and {@code skip}: whether a test is to be run on a cluster. */
final class Prerequisite {
  private static final String ALL_VERSIONS = "all";
  private static final Set<String> RUNNER_FEATURES =
      Set.of(
          "allowed_warnings",
          "allowed_warnings_regex",
          "arbitrary_key",
          "capabilities",
          "catch_unauthorized",
          "clean_setup",
          "close_to",
          "contains",
          "default_shards",
          "embedded_stash_key",
          "fips_140",
          "headers",
          "is_after",
          "matches_in_any_order",
          "node_selector",
          "regex",
          "skip_os",
          "stash_in_key",
          "stash_in_path",
          "stash_path_replace",
          "transform_and_set",
          "warnings",
          "warnings_regex",
          "yaml");

  private final List<Condition> conditions = new ArrayList<>();
  private String reason;
  private boolean needsReason;

  private Prerequisite() {}

  /** Something about a cluster. */
  private interface Condition {
    /** What is wrong with the cluster, or null. */
    String complaint(ClusterInfo cluster) throws IOException;
  }

  /** Reads {@code requires}. */
  static Prerequisite requires(Object argument) {
    Prerequisite prerequisite = new Prerequisite();
    Content.object(argument, "[requires]").forEach(prerequisite::addRequired);
    return prerequisite.checked();
  }

  /** Reads {@code skip}. */
  static Prerequisite skip(Object argument) {
    Prerequisite prerequisite = new Prerequisite();
    Content.object(argument, "[skip]").forEach(prerequisite::addSkipped);
    return prerequisite.checked();
  }

  private Prerequisite checked() {
    if (conditions.isEmpty()) {
      throw new IllegalArgumentException("[requires] or [skip] without a condition");
    }
    if (needsReason && (reason == null || reason.isBlank())) {
      throw new IllegalArgumentException("[requires] or [skip] without a [reason]");
    }
    return this;
  }

  private void addRequired(String key, Object value) {
    switch (key) {
      case "reason" -> reason = Content.text(value, "[reason]");
      case "test_runner_features" -> runnerFeatures(value);
      case "cluster_features" -> {
        needsReason = true;
        for (String feature : Content.texts(value, "[cluster_features]")) {
          conditions.add(
              cluster -> cluster.hasFeature(feature) ? null : "feature [" + feature + "] lacks");
        }
      }
      case "capabilities" -> {
        needsReason = true;
        for (ClusterInfo.Capability wanted : capabilities(value)) {
          conditions.add(cluster -> cluster.hasCapability(wanted) ? null : wanted + " lacks");
        }
      }
      default -> throw new IllegalArgumentException("unknown [" + key + "] in [requires]");
    }
  }

  private void addSkipped(String key, Object value) {
    switch (key) {
      case "reason" -> reason = Content.text(value, "[reason]");
      case "features" -> runnerFeatures(value);
      case "awaits_fix" -> {
        String issue = Content.text(value, "[awaits_fix]");
        conditions.add(cluster -> "awaits a fix: " + issue);
      }
      case "cluster_features" -> {
        needsReason = true;
        for (String feature : Content.texts(value, "[cluster_features]")) {
          conditions.add(
              cluster -> cluster.hasFeature(feature) ? "feature [" + feature + "]" : null);
        }
      }
      case "capabilities" -> {
        needsReason = true;
        for (ClusterInfo.Capability unwanted : capabilities(value)) {
          conditions.add(cluster -> cluster.hasCapability(unwanted) ? unwanted.toString() : null);
        }
      }
      case "version" -> {
        needsReason = true;
        String versions = Content.text(value, "[version]");
        if (versions.equals(ALL_VERSIONS)) {
          conditions.add(cluster -> "all versions");
        } else {
          ClusterVersion.check(versions);
          conditions.add(
              cluster ->
                  cluster.nodes().stream()
                          .anyMatch(node -> ClusterVersion.isIn(node.version(), versions))
                      ? "version in [" + versions + "]"
                      : null);
        }
      }
      case "known_issues" -> {
        needsReason = true;
        for (Object issue : list(value, "[known_issues]")) {
          knownIssue(Content.object(issue, "a known issue"));
        }
      }
      case "os" -> {
        needsReason = true;
        List<String> names = Content.texts(value, "[os]");
        conditions.add(
            cluster ->
                cluster.nodes().stream().anyMatch(node -> names.contains(node.os()))
                    ? "operating system of " + names
                    : null);
      }
      default -> throw new IllegalArgumentException("unknown [" + key + "] in [skip]");
    }
  }

  private void runnerFeatures(Object value) {
    for (String feature : Content.texts(value, "features of the runner")) {
      switch (feature) {
        case "xpack" ->
            conditions.add(cluster -> cluster.hasXpack() ? null : "commercial modules lack");
        case "no_xpack" ->
            conditions.add(cluster -> cluster.hasXpack() ? "commercial modules" : null);
        default -> {
          if (!RUNNER_FEATURES.contains(feature)) {
            throw new IllegalArgumentException("this runner does not know [" + feature + "]");
          }
          conditions.add(cluster -> null);
        }
      }
    }
  }

  private void knownIssue(Map<String, Object> issue) {
    if (!issue.keySet().equals(Set.of("cluster_feature", "fixed_by"))) {
      throw new IllegalArgumentException(
          "a known issue has [cluster_feature] and [fixed_by], not " + issue.keySet());
    }
    String feature = Content.text(issue.get("cluster_feature"), "[cluster_feature]");
    String fixed = Content.text(issue.get("fixed_by"), "[fixed_by]");
    conditions.add(
        cluster ->
            cluster.hasFeature(feature) && !cluster.hasFeature(fixed)
                ? "issue of [" + feature + "]"
                : null);
  }

  private static List<ClusterInfo.Capability> capabilities(Object value) {
    List<ClusterInfo.Capability> capabilities = new ArrayList<>();
    for (Object entry : list(value, "[capabilities]")) {
      Map<String, Object> call = Content.object(entry, "a capability");
      if (!Set.of("method", "path", "parameters", "capabilities").containsAll(call.keySet())) {
        throw new IllegalArgumentException("unknown member of a capability: " + call.keySet());
      }
      capabilities.add(
          new ClusterInfo.Capability(
              Content.text(call.getOrDefault("method", "GET"), "[method]"),
              Content.text(call.get("path"), "[path]"),
              joined(call, "parameters"),
              joined(call, "capabilities")));
    }
    return capabilities;
  }

  private static String joined(Map<String, Object> call, String key) {
    return call.containsKey(key)
        ? String.join(",", Content.texts(call.get(key), "[" + key + "]"))
        : null;
  }

  private static List<?> list(Object value, String what) {
    if (value instanceof List<?> list && !list.isEmpty()) {
      return list;
    }
    throw new IllegalArgumentException(what + " has to be a list, is [" + value + "]");
  }

  /** Why a test is not to be run, or null if it is. */
  String complaint(ClusterInfo cluster) throws IOException {
    for (Condition condition : conditions) {
      String complaint = condition.complaint(cluster);
      if (complaint != null) {
        return reason == null ? complaint : complaint + ": " + reason;
      }
    }
    return null;
  }
}
