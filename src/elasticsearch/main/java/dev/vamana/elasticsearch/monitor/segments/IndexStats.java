package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.monitor.recall.Searches;
import dev.vamana.elasticsearch.monitor.recall.Tally;
import dev.vamana.elasticsearch.monitor.stats.Figures;
import dev.vamana.elasticsearch.monitor.stats.OpenMetrics;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/** The vector fields of indices: what all copies of shards hold together. */
final class IndexStats {
  private static final Figures SHARDS =
      new Figures(
          "vamana_index",
          "shards.<result> | gauge | | Copies of shards asked, by whether they answered.");

  private static final Figures FIELD =
      new Figures(
          "vamana_index",
          """
          segments.<state>      | gauge | | Segments with vectors of the field, by state.
          vectors               | gauge | | Vectors, deleted documents included.
          disk.vectors_in_bytes | gauge | | Raw vectors on disk.
          disk.graph_in_bytes   | gauge | | Graphs on disk.
          disk.codes_in_bytes   | gauge | | Codes on disk.
          device_in_bytes       | gauge | | Bytes on the device.
          """);

  private final SegmentsResponse response;
  private final SortedMap<String, SortedMap<String, FieldSum>> indices = new TreeMap<>();

  /** The sum of a field's segments. */
  private static final class FieldSum {
    private final SortedMap<String, Object> states = new TreeMap<>();
    private final SortedMap<Integer, Tally> recall = new TreeMap<>();
    private long vectors;
    private long vectorBytes;
    private long graphBytes;
    private long codeBytes;
    private long deviceBytes;

    void add(FieldSegment segment) {
      states.merge(segment.state(), 1L, (a, b) -> (Long) a + (Long) b);
      vectors += segment.report().vectors();
      vectorBytes += segment.vectorBytes();
      graphBytes += segment.graphBytes();
      codeBytes += segment.codeBytes();
      deviceBytes += segment.report().presence().deviceBytes();
    }

    Map<String, Object> figures() {
      Map<String, Object> disk = new LinkedHashMap<>();
      disk.put("vectors_in_bytes", vectorBytes);
      disk.put("graph_in_bytes", graphBytes);
      disk.put("codes_in_bytes", codeBytes);
      List<Map<String, Object>> searches = new ArrayList<>();
      recall.forEach(
          (k, tally) -> {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("k", k);
            row.putAll(tally.figures());
            searches.add(row);
          });
      Map<String, Object> figures = new LinkedHashMap<>();
      figures.put("segments", states);
      figures.put("vectors", vectors);
      figures.put("disk", disk);
      figures.put("device_in_bytes", deviceBytes);
      figures.put("recall", searches);
      return figures;
    }
  }

  IndexStats(SegmentsResponse response) {
    this.response = response;
    for (SegmentsResponse.OfShard shard : response.shards()) {
      for (FieldSegment segment : shard.segments()) {
        sum(shard.index(), segment.report().field()).add(segment);
      }
      for (Map.Entry<Searches, Tally> recall : shard.recall().entrySet()) {
        sum(shard.index(), recall.getKey().field())
            .recall
            .merge(recall.getKey().k(), recall.getValue(), Tally::plus);
      }
    }
  }

  private FieldSum sum(String index, String field) {
    return indices
        .computeIfAbsent(index, name -> new TreeMap<>())
        .computeIfAbsent(field, name -> new FieldSum());
  }

  /** The members of the answer. */
  Map<String, Object> figures() {
    Map<String, Object> all = new LinkedHashMap<>();
    indices.forEach(
        (index, sums) -> {
          Map<String, Object> fields = new LinkedHashMap<>();
          sums.forEach((field, sum) -> fields.put(field, sum.figures()));
          all.put(index, Map.of("fields", fields));
        });
    return Map.of("indices", all);
  }

  /** The sums as OpenMetrics. */
  OpenMetrics openMetrics() {
    OpenMetrics text = new OpenMetrics();
    Map<String, Integer> shards =
        Map.of("successful", response.getSuccessfulShards(), "failed", response.getFailedShards());
    SHARDS.addTo(text, Map.of(), Map.of("shards", shards));
    indices.forEach(
        (index, sums) ->
            sums.forEach(
                (field, sum) -> {
                  Map<String, String> labels = new LinkedHashMap<>();
                  labels.put("index", index);
                  labels.put("field", field);
                  FIELD.addTo(text, labels, sum.figures());
                }));
    return text;
  }
}
