package dev.vamana.elasticsearch.search;

import dev.vamana.elasticsearch.wire.WireVersion;
import java.io.IOException;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * A batched search, or its part on one shard. It can be cancelled and reports its progress; one
 * unit of progress is one query vector searched in one shard.
 */
public final class BatchSearchTask extends CancellableTask {

  private final AtomicInteger done = new AtomicInteger();
  private volatile int vectors;
  private volatile int shards;

  BatchSearchTask(
      long id,
      String type,
      String action,
      String description,
      TaskId parent,
      Map<String, String> headers) {
    super(id, type, action, description, parent, headers);
  }

  /** Sets the amount of work, of which nothing is done yet. */
  public void start(int vectorCount, int shardCount) {
    vectors = vectorCount;
    shards = shardCount;
  }

  /** Adds vectors that have been searched in one more shard. */
  public void advance(int vectorsOfShard) {
    done.addAndGet(vectorsOfShard);
  }

  @Override
  public boolean shouldCancelChildrenOnCancellation() {
    return true;
  }

  @Override
  public Progress getStatus() {
    return new Progress(vectors, shards, done.get());
  }

  /**
   * Progress of a batched search.
   *
   * @param vectors number of query vectors
   * @param shards number of shards
   * @param done number of searches of a vector in a shard so far, of {@code vectors * shards} in
   *     all
   */
  public record Progress(int vectors, int shards, int done) implements Task.Status {

    /** Name on the wire. */
    public static final String NAME = "vamana_batch_search";

    /** Reads what {@link #writeTo} wrote. */
    static Progress read(StreamInput in) throws IOException {
      WireVersion.read(in);
      return new Progress(in.readVInt(), in.readVInt(), in.readVInt());
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      WireVersion.write(out);
      out.writeVInt(vectors);
      out.writeVInt(shards);
      out.writeVInt(done);
    }

    @Override
    public String getWriteableName() {
      return NAME;
    }

    @Override
    public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
      return json.startObject()
          .field("vectors", vectors)
          .field("shards", shards)
          .field("done", done)
          .field("total", (long) vectors * shards)
          .endObject();
    }
  }
}
