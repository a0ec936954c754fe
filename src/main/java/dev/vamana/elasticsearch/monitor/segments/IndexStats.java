package dev.vamana.elasticsearch.monitor.segments;

import java.io.IOException;
import java.util.Collection;
import java.util.Map;
import java.util.TreeMap;
import org.elasticsearch.xcontent.ToXContentFragment;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * The vector fields of indices: what all copies of shards hold together.
 *
 * @param indices sums by index, and there by field
 */
record IndexStats(Map<String, Map<String, FieldSum>> indices) implements ToXContentFragment {

  /** The sum of a field's segments. */
  static final class FieldSum {
    private int segments;
    private long vectors;
    private long vectorBytes;
    private long graphBytes;
    private long codeBytes;
    private long deviceBytes;
    private final Map<String, Integer> states = new TreeMap<>();

    private void add(FieldSegment segment) {
      segments++;
      vectors += segment.vectors();
      vectorBytes += segment.disk().vectors();
      graphBytes += segment.disk().graph();
      codeBytes += segment.disk().codes();
      deviceBytes += segment.device().total();
      states.merge(segment.device().state(), 1, Integer::sum);
    }

    long vectors() {
      return vectors;
    }

    /** Bytes on disk by what they hold. */
    Map<String, Long> disk() {
      return Map.of("vectors", vectorBytes, "graph", graphBytes, "codes", codeBytes);
    }

    long deviceBytes() {
      return deviceBytes;
    }

    /** Segments by their state. */
    Map<String, Integer> states() {
      return Map.copyOf(states);
    }

    private void write(XContentBuilder json) throws IOException {
      json.field("segments", segments);
      json.field("vectors", vectors);
      json.startObject("disk");
      json.field("vectors_bytes", vectorBytes);
      json.field("graph_bytes", graphBytes);
      json.field("codes_bytes", codeBytes);
      json.endObject();
      json.field("device_bytes", deviceBytes);
      json.field("states", states);
    }
  }

  /** Sums up segments. */
  static IndexStats of(Collection<FieldSegment> segments) {
    Map<String, Map<String, FieldSum>> indices = new TreeMap<>();
    for (FieldSegment segment : segments) {
      if (segment.field().isEmpty() == false) {
        indices
            .computeIfAbsent(segment.copy().index(), index -> new TreeMap<>())
            .computeIfAbsent(segment.field(), field -> new FieldSum())
            .add(segment);
      }
    }
    return new IndexStats(indices);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject("indices");
    for (Map.Entry<String, Map<String, FieldSum>> index : indices.entrySet()) {
      json.startObject(index.getKey());
      json.startObject("fields");
      for (Map.Entry<String, FieldSum> field : index.getValue().entrySet()) {
        json.startObject(field.getKey());
        field.getValue().write(json);
        json.endObject();
      }
      json.endObject();
      json.endObject();
    }
    return json.endObject();
  }
}
