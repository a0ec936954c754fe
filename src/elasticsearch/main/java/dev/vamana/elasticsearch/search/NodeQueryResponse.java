package dev.vamana.elasticsearch.search;

import dev.vamana.elasticsearch.wire.WireVersion;
import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.search.internal.ShardSearchContextId;

/** The best hits of a node's shards for a {@link NodeQueryRequest}, and the outcome of each. */
final class NodeQueryResponse extends ActionResponse {

  private final Hits hits;
  private final List<Outcome> outcomes;
  private final FetchedDocs fetched;

  /**
   * The outcome of one shard.
   *
   * @param reader id of the reader that stays open; null if no document has to be fetched from it
   * @param timedOut whether time ran out before all queries were searched
   * @param mapped whether the mapping of the index has the field
   * @param profile what the search cost; null if it failed
   * @param failure why the shard has no hits; null if it was searched
   */
  record Outcome(
      ShardSearchContextId reader,
      boolean timedOut,
      boolean mapped,
      ShardProfile profile,
      Exception failure)
      implements Writeable {

    static Outcome failed(Exception failure) {
      return new Outcome(null, false, false, null, failure);
    }

    private static Outcome readFrom(StreamInput in) throws IOException {
      return new Outcome(
          in.readOptionalWriteable(ShardSearchContextId::new),
          in.readBoolean(),
          in.readBoolean(),
          in.readOptionalWriteable(ShardProfile::readFrom),
          in.readException());
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeOptionalWriteable(reader);
      out.writeBoolean(timedOut);
      out.writeBoolean(mapped);
      out.writeOptionalWriteable(profile);
      out.writeException(failure);
    }

    /** Returns this outcome after the reader was closed. */
    Outcome withoutReader() {
      return new Outcome(null, timedOut, mapped, profile, failure);
    }

    /** Returns this outcome after documents were fetched and the reader was closed. */
    Outcome fetched(long nanos) {
      return new Outcome(null, timedOut, mapped, profile.withFetch(nanos), failure);
    }
  }

  /**
   * Makes a response.
   *
   * @param outcomes outcomes of the shards, in the order of the request
   * @param fetched the distinct documents of the hits if they were requested, or null
   */
  NodeQueryResponse(Hits hits, List<Outcome> outcomes, FetchedDocs fetched) {
    this.hits = hits;
    this.outcomes = outcomes;
    this.fetched = fetched;
  }

  NodeQueryResponse(StreamInput in) throws IOException {
    int version = WireVersion.read(in);
    hits = Hits.readFrom(in);
    outcomes = in.readCollectionAsImmutableList(Outcome::readFrom);
    fetched = in.readOptionalWriteable(FetchedDocs::readFrom);
    WireVersion.end(in, version);
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    WireVersion.write(out);
    hits.writeTo(out);
    out.writeCollection(outcomes);
    out.writeOptionalWriteable(fetched);
  }

  Hits hits() {
    return hits;
  }

  List<Outcome> outcomes() {
    return outcomes;
  }

  FetchedDocs fetched() {
    return fetched;
  }
}
