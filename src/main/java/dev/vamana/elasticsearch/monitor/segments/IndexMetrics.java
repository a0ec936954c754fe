package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.monitor.openmetrics.Exposition;
import dev.vamana.elasticsearch.monitor.openmetrics.Family;
import dev.vamana.elasticsearch.monitor.openmetrics.Labels;
import java.util.TreeMap;

/** The sums of {@link IndexStats} as OpenMetrics. All copies of shards count. */
final class IndexMetrics {

  private static final Family SHARDS =
      Family.of(
          Family.Type.GAUGE,
          "vamana_index_shards",
          "Copies of shards asked, by whether they answered.");
  private static final Family SEGMENTS =
      Family.of(
          Family.Type.GAUGE,
          "vamana_index_segments",
          "Segments with vectors of the field, by state.");
  private static final Family VECTORS =
      Family.of(Family.Type.GAUGE, "vamana_index_vectors", "Vectors, deleted documents included.");
  private static final Family DISK =
      new Family("vamana_index_disk_bytes", Family.Type.GAUGE, "bytes", "Bytes on disk.");
  private static final Family DEVICE =
      new Family("vamana_index_device_bytes", Family.Type.GAUGE, "bytes", "Bytes on the device.");

  private IndexMetrics() {}

  static Exposition of(SegmentsResponse response) {
    Exposition exposition = new Exposition();
    Labels none = Labels.NONE;
    exposition.add(SHARDS, none.and("result", "successful"), response.getSuccessfulShards());
    exposition.add(SHARDS, none.and("result", "failed"), response.getFailedShards());
    IndexStats.of(response.segments())
        .indices()
        .forEach(
            (index, fields) ->
                fields.forEach(
                    (field, sum) ->
                        add(exposition, none.and("index", index).and("field", field), sum)));
    return exposition;
  }

  private static void add(Exposition exposition, Labels labels, IndexStats.FieldSum sum) {
    new TreeMap<>(sum.states())
        .forEach((state, count) -> exposition.add(SEGMENTS, labels.and("state", state), count));
    exposition.add(VECTORS, labels, sum.vectors());
    new TreeMap<>(sum.disk())
        .forEach((part, bytes) -> exposition.add(DISK, labels.and("part", part), bytes));
    exposition.add(DEVICE, labels, sum.deviceBytes());
  }
}
