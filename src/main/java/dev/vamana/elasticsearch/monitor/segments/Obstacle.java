package dev.vamana.elasticsearch.monitor.segments;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

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
