package dev.vamana.elasticsearch.monitor.segments;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.elasticsearch.action.admin.cluster.node.info.NodeInfo;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.metadata.IndexMetadata;
import org.elasticsearch.cluster.metadata.Metadata;
import org.elasticsearch.cluster.metadata.ProjectMetadata;
import org.elasticsearch.cluster.metadata.Template;
import org.elasticsearch.cluster.routing.IndexRoutingTable;
import org.elasticsearch.cluster.routing.IndexShardRoutingTable;
import org.elasticsearch.cluster.routing.ShardRouting;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.ingest.IngestMetadata;
import org.elasticsearch.ingest.PipelineConfiguration;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

/** Finds what needs the plugin in a cluster's metadata, its nodes' settings and its segments. */
final class RemovalCheck {
  private static final String INDEX_PREFIX = "index.vamana.";
  private static final String NODE_PREFIX = "vamana.";
  private static final String PROCESSOR = "vamana_train";

  /**
   * Something that needs the plugin, so that the plugin cannot go.
   *
   * @param name of the index, template, pipeline or node; empty for settings of the cluster
   * @param details what of it needs the plugin, for instance names of settings
   */
  record Obstacle(Kind kind, String name, List<String> details) implements ToXContentObject {

    /** Kinds of obstacles, in the order in which an operator removes them. */
    enum Kind {
      /** Segments in the plugin's format; details: fields and numbers of segments. */
      SEGMENTS("set [index.vamana.enabled] to [false] and force a merge"),
      /** Copies of shards whose segments could not be read; details: how many. */
      UNREAD_SHARDS("wait until all shards have started"),
      /** A closed index, whose segments were not read. */
      CLOSED_INDEX("open the index and ask again"),
      /** Settings of an index. */
      INDEX_SETTINGS("set them to [null] when no segment is in the plugin's format"),
      /** Settings of an index template or component template. */
      TEMPLATE_SETTINGS("store the template without them"),
      /** Processors of an ingest pipeline. */
      PIPELINE("store the pipeline without them, or delete it"),
      /** Settings that the cluster's settings API has stored. */
      CLUSTER_SETTINGS("set them to [null]"),
      /** Settings in a node's configuration file. */
      NODE_SETTINGS("delete them from elasticsearch.yml before the node starts without the plugin");

      private final String remedy;

      Kind(String remedy) {
        this.remedy = remedy;
      }
    }

    Obstacle {
      details = List.copyOf(details);
    }

    @Override
    public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
      json.startObject();
      json.field("kind", kind.name().toLowerCase(Locale.ROOT));
      if (name.isEmpty() == false) {
        json.field("name", name);
      }
      json.field("details", details);
      json.field("remedy", kind.remedy);
      return json.endObject();
    }
  }

  private final List<Obstacle> found = new ArrayList<>();

  private RemovalCheck() {}

  /** Finds all obstacles, ordered by kind and name. */
  static List<Obstacle> of(
      ClusterState state, Collection<NodeInfo> nodes, SegmentsResponse shards) {
    RemovalCheck check = new RemovalCheck();
    check.segments(shards, neverStarted(state));
    Metadata metadata = state.metadata();
    metadata.projects().values().forEach(check::project);
    List<String> stored = new ArrayList<>(named(metadata.persistentSettings(), NODE_PREFIX));
    stored.addAll(named(metadata.transientSettings(), NODE_PREFIX));
    check.add(Obstacle.Kind.CLUSTER_SETTINGS, "", stored);
    for (NodeInfo node : nodes) {
      if (node.getSettings() != null) {
        check.add(
            Obstacle.Kind.NODE_SETTINGS,
            node.getNode().getName(),
            named(node.getSettings(), NODE_PREFIX));
      }
    }
    check.found.sort(Comparator.comparing(Obstacle::kind).thenComparing(Obstacle::name));
    return List.copyOf(check.found);
  }

  private void add(Obstacle.Kind kind, String name, List<String> details) {
    if (details.isEmpty() == false) {
      found.add(new Obstacle(kind, name, details));
    }
  }

  private static List<String> named(Settings settings, String prefix) {
    return settings.keySet().stream().filter(key -> key.startsWith(prefix)).sorted().toList();
  }

  /**
   * Counts copies of shards that have no segments: replicas that no node holds, while the primary
   * has started. A replica that is in sync may be on a node that is away, so it does not count.
   */
  static int neverStarted(ClusterState state) {
    int copies = 0;
    for (ProjectMetadata project : state.metadata().projects().values()) {
      for (IndexRoutingTable index : state.routingTable(project.id())) {
        IndexMetadata metadata = project.index(index.getIndex());
        if (metadata == null || metadata.getState() == IndexMetadata.State.CLOSE) {
          continue;
        }
        for (int shard = 0; shard < index.size(); shard++) {
          copies += neverStarted(index.shard(shard), metadata.inSyncAllocationIds(shard));
        }
      }
    }
    return copies;
  }

  private static int neverStarted(IndexShardRoutingTable shard, Set<String> inSync) {
    if (shard.primaryShard().active() == false) {
      return 0;
    }
    int unassigned = 0;
    Set<String> away = new HashSet<>(inSync);
    for (int copy = 0; copy < shard.size(); copy++) {
      ShardRouting routing = shard.shard(copy);
      if (routing.unassigned()) {
        unassigned++;
      } else {
        away.remove(routing.allocationId().getId());
      }
    }
    return Math.max(0, unassigned - away.size());
  }

  private void segments(SegmentsResponse shards, int neverStarted) {
    Map<String, Map<String, Integer>> ours = new TreeMap<>();
    for (SegmentsResponse.OfShard copy : shards.shards()) {
      for (FieldSegment segment : copy.segments()) {
        if (segment.ours()) {
          ours.computeIfAbsent(copy.index(), index -> new TreeMap<>())
              .merge(segment.report().field(), 1, Integer::sum);
        }
      }
    }
    ours.forEach(
        (index, fields) ->
            add(
                Obstacle.Kind.SEGMENTS,
                index,
                fields.entrySet().stream()
                    .map(field -> "field [" + field.getKey() + "], segments: " + field.getValue())
                    .toList()));
    int started = shards.getTotalShards() - neverStarted;
    int unread = started - shards.getSuccessfulShards();
    if (unread > 0) {
      add(Obstacle.Kind.UNREAD_SHARDS, "", List.of(unread + " of " + started));
    }
  }

  private void project(ProjectMetadata project) {
    for (IndexMetadata index : project.indices().values()) {
      String name = index.getIndex().getName();
      add(Obstacle.Kind.INDEX_SETTINGS, name, named(index.getSettings(), INDEX_PREFIX));
      if (index.getState() == IndexMetadata.State.CLOSE) {
        add(Obstacle.Kind.CLOSED_INDEX, name, List.of("its segments were not read"));
      }
    }
    project.templates().forEach((name, template) -> template(name, template.settings()));
    project.templatesV2().forEach((name, template) -> template(name, template.template()));
    project.componentTemplates().forEach((name, template) -> template(name, template.template()));
    IngestMetadata ingest = project.custom(IngestMetadata.TYPE);
    if (ingest != null) {
      ingest.getPipelines().forEach(this::pipeline);
    }
  }

  private void pipeline(String name, PipelineConfiguration pipeline) {
    if (mentions(pipeline.getConfig())) {
      add(Obstacle.Kind.PIPELINE, name, List.of(PROCESSOR));
    }
  }

  private void template(String name, Template template) {
    if (template != null) {
      template(name, template.settings());
    }
  }

  private void template(String name, Settings settings) {
    if (settings != null) {
      add(Obstacle.Kind.TEMPLATE_SETTINGS, name, named(settings, INDEX_PREFIX));
    }
  }

  /** Processors may be inside others, for instance in {@code foreach} or {@code on_failure}. */
  private static boolean mentions(Object config) {
    if (config instanceof Map<?, ?> map) {
      return map.containsKey(PROCESSOR) || map.values().stream().anyMatch(RemovalCheck::mentions);
    }
    return config instanceof Collection<?> list && list.stream().anyMatch(RemovalCheck::mentions);
  }
}
