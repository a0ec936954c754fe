package dev.vamana.elasticsearch.monitor.stats;

import dev.vamana.elasticsearch.monitor.Trouble;
import dev.vamana.elasticsearch.monitor.recall.RecallStats;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.elasticsearch.action.support.nodes.BaseNodeResponse;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.xcontent.ToXContent;
import org.elasticsearch.xcontent.ToXContentFragment;
import org.elasticsearch.xcontent.XContentBuilder;

/** One node's statistics. */
public final class NodeStats extends BaseNodeResponse implements ToXContentFragment {
  private final Times times;
  private final Sections sections;

  /**
   * The period of the statistics.
   *
   * @param timestamp when the statistics were taken, in milliseconds since 1970
   * @param since when counting began, in milliseconds since 1970
   */
  public record Times(long timestamp, long since) {}

  /**
   * The sections of the statistics. A section is null if it was not requested or this node does not
   * have it.
   *
   * @param device the device, the first of several
   * @param health what is wrong now
   * @param devices each of several devices; empty with one
   */
  public record Sections(
      DeviceStats device,
      StateStats state,
      Counters residency,
      ExecutorStats executor,
      Counters build,
      Counters training,
      Counters memory,
      RecallStats recall,
      List<Trouble> health,
      List<DeviceSection> devices) {

    public Sections {
      devices = List.copyOf(devices);
    }

    /** Sections of a node with at most one device. */
    public Sections(
        DeviceStats device,
        StateStats state,
        Counters residency,
        ExecutorStats executor,
        Counters build,
        Counters training,
        Counters memory,
        RecallStats recall,
        List<Trouble> health) {
      this(device, state, residency, executor, build, training, memory, recall, health, List.of());
    }
  }

  /** Makes the statistics of a node. */
  public NodeStats(DiscoveryNode node, Times times, Sections sections) {
    super(node);
    this.times = Objects.requireNonNull(times, "times");
    this.sections = Objects.requireNonNull(sections, "sections");
  }

  /**
   * Reads what {@link #writeTo} wrote.
   *
   * @param node the node that answers, which saves reading its description; or null
   */
  NodeStats(StreamInput in, DiscoveryNode node) throws IOException {
    super(in, node);
    times = new Times(in.readZLong(), in.readZLong());
    sections =
        new Sections(
            in.readOptionalWriteable(DeviceStats::new),
            in.readOptionalWriteable(StateStats::new),
            in.readOptionalWriteable(Counters::new),
            in.readOptionalWriteable(ExecutorStats::new),
            in.readOptionalWriteable(Counters::new),
            in.readOptionalWriteable(Counters::new),
            in.readOptionalWriteable(Counters::new),
            in.readOptionalWriteable(RecallStats::new),
            in.readOptionalCollectionAsList(Trouble::new),
            in.readCollectionAsList(DeviceSection::new));
  }

  /** The period of the statistics. */
  public Times times() {
    return times;
  }

  /** The requested sections. */
  public Sections sections() {
    return sections;
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeZLong(times.timestamp());
    out.writeZLong(times.since());
    out.writeOptionalWriteable(sections.device());
    out.writeOptionalWriteable(sections.state());
    out.writeOptionalWriteable(sections.residency());
    out.writeOptionalWriteable(sections.executor());
    out.writeOptionalWriteable(sections.build());
    out.writeOptionalWriteable(sections.training());
    out.writeOptionalWriteable(sections.memory());
    out.writeOptionalWriteable(sections.recall());
    out.writeOptionalCollection(sections.health());
    out.writeCollection(sections.devices());
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.field("name", getNode().getName());
    json.field("transport_address", getNode().getAddress().toString());
    json.timestampFieldsFromUnixEpochMillis("timestamp", "timestamp_string", times.timestamp());
    json.timestampFieldsFromUnixEpochMillis("since", "since_string", times.since());
    section(json, Metric.DEVICE, sections.device());
    if (sections.devices().isEmpty() == false) {
      json.xContentList(Metric.DEVICES.label(), sections.devices());
    }
    section(json, Metric.STATE, sections.state());
    section(json, Metric.RESIDENCY, sections.residency());
    section(json, Metric.EXECUTOR, sections.executor());
    section(json, Metric.BUILD, sections.build());
    section(json, Metric.TRAINING, sections.training());
    section(json, Metric.MEMORY, sections.memory());
    section(json, Metric.RECALL, sections.recall());
    if (sections.health() != null) {
      json.xContentList(Metric.HEALTH.label(), sections.health());
    }
    return json;
  }

  private static void section(XContentBuilder json, Metric metric, ToXContent section)
      throws IOException {
    if (section != null) {
      json.field(metric.label(), section);
    }
  }
}
