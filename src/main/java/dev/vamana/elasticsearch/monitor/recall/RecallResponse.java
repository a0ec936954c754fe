package dev.vamana.elasticsearch.monitor.recall;

import java.io.IOException;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.elasticsearch.action.support.DefaultShardOperationFailedException;
import org.elasticsearch.action.support.broadcast.BaseBroadcastResponse;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.xcontent.ToXContentFragment;
import org.elasticsearch.xcontent.XContentBuilder;

/** The recall of the searches of all copies of shards that answered. */
final class RecallResponse extends BaseBroadcastResponse implements ToXContentFragment {
  private final List<OfShard> copies;

  RecallResponse(
      int total,
      int successful,
      int failed,
      List<DefaultShardOperationFailedException> failures,
      List<OfShard> copies) {
    super(total, successful, failed, failures);
    this.copies = List.copyOf(copies);
  }

  RecallResponse(StreamInput in) throws IOException {
    super(in);
    copies = in.readCollectionAsList(OfShard::new);
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeCollection(copies);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    SortedMap<String, SortedMap<String, FieldRecall>> indices = new TreeMap<>();
    SortedMap<String, SortedMap<String, Long>> skipped = new TreeMap<>();
    for (OfShard copy : copies) {
      SortedMap<String, FieldRecall> fields =
          indices.computeIfAbsent(copy.index(), index -> new TreeMap<>());
      String prefix = copy.node() + "/" + copy.shard() + "/";
      copy.recall()
          .fields()
          .forEach(
              (name, field) ->
                  fields.computeIfAbsent(name, none -> new FieldRecall()).add(field, prefix));
      SortedMap<String, Long> reasons =
          skipped.computeIfAbsent(copy.index(), index -> new TreeMap<>());
      copy.recall().skipped().forEach((why, count) -> reasons.merge(why, count, Long::sum));
    }
    json.startObject("indices");
    for (String index : indices.keySet()) {
      json.startObject(index);
      json.startObject("fields");
      for (String field : indices.get(index).keySet()) {
        json.startObject(field);
        RecallReport.write(json, indices.get(index).get(field));
        json.endObject();
      }
      json.endObject();
      json.field("skipped", skipped.get(index));
      json.endObject();
    }
    return json.endObject();
  }

  /**
   * The recall of one copy of a shard.
   *
   * @param node name of its node
   */
  record OfShard(String index, int shard, String node, ShardRecall recall) implements Writeable {
    OfShard(StreamInput in) throws IOException {
      this(in.readString(), in.readVInt(), in.readString(), new ShardRecall(in));
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeString(index);
      out.writeVInt(shard);
      out.writeString(node);
      recall.writeTo(out);
    }
  }
}
