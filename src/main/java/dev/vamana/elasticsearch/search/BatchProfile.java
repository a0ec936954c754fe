package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.xcontent.ToXContentFragment;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * What a batch cost its shards and the node that merged their hits.
 *
 * @param shards the shards that answered
 * @param mergeNanos time to merge the hits of the shards
 */
record BatchProfile(List<OfShard> shards, long mergeNanos)
    implements Writeable, ToXContentFragment {

  /**
   * The profile of a shard.
   *
   * @param id node, index and number of the shard
   */
  record OfShard(String id, ShardProfile profile) implements Writeable {
    static OfShard readFrom(StreamInput in) throws IOException {
      return new OfShard(in.readString(), ShardProfile.readFrom(in));
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeString(id);
      profile.writeTo(out);
    }
  }

  static BatchProfile readFrom(StreamInput in) throws IOException {
    return new BatchProfile(in.readCollectionAsImmutableList(OfShard::readFrom), in.readVLong());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeCollection(shards);
    out.writeVLong(mergeNanos);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject("profile").startArray("shards");
    for (OfShard shard : shards) {
      ShardProfile profile = shard.profile();
      json.startObject();
      json.field("id", shard.id());
      json.field("searched_by", profile.searchedBy());
      json.field("segments", profile.segments());
      json.field("hits", profile.hits());
      json.field("wait_nanos", profile.waitNanos());
      json.field("search_nanos", profile.searchNanos());
      json.field("fetch_nanos", profile.fetchNanos());
      json.endObject();
    }
    return json.endArray().field("merge_nanos", mergeNanos).endObject();
  }
}
