package dev.vamana.elasticsearch.gpu;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.elasticsearch.cluster.routing.ShardRouting;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.xcontent.XContentBuilder;

/** The answer of one copy of a shard. */
interface ShardResult extends Writeable {

  /** The copy. */
  ShardRouting routing();

  /** Writes the members of the copy's JSON object. */
  void writeMembers(XContentBuilder json) throws IOException;

  /** Writes results by index and shard, primaries first. */
  static void write(XContentBuilder json, List<? extends ShardResult> results) throws IOException {
    Map<String, Map<Integer, List<ShardResult>>> indices = new TreeMap<>();
    for (ShardResult result : results) {
      indices
          .computeIfAbsent(result.routing().getIndexName(), name -> new TreeMap<>())
          .computeIfAbsent(result.routing().id(), id -> new ArrayList<>())
          .add(result);
    }
    json.startObject("indices");
    for (Map.Entry<String, Map<Integer, List<ShardResult>>> index : indices.entrySet()) {
      json.startObject(index.getKey()).startObject("shards");
      for (Map.Entry<Integer, List<ShardResult>> shard : index.getValue().entrySet()) {
        json.startArray(Integer.toString(shard.getKey()));
        shard
            .getValue()
            .sort(Comparator.comparing((ShardResult copy) -> copy.routing().primary()).reversed());
        for (ShardResult copy : shard.getValue()) {
          json.startObject();
          json.field("node", copy.routing().currentNodeId());
          json.field("primary", copy.routing().primary());
          copy.writeMembers(json);
          json.endObject();
        }
        json.endArray();
      }
      json.endObject().endObject();
    }
    json.endObject();
  }
}
