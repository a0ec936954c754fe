package dev.vamana.elasticsearch.codebook.action;

import dev.vamana.elasticsearch.codebook.sample.SampleStatus;
import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.elasticsearch.codebook.store.CodebookEntry;
import java.io.IOException;
import java.time.Instant;
import java.util.Locale;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

/**
 * A codebook in responses.
 *
 * @param name name of the codebook
 * @param state see {@link State}
 * @param entry the stored entry, or null if there are only samples
 * @param sample the sum of all nodes' samples, or null if there are none
 * @param data the codebook's bytes in Base64, or null if they were not requested
 */
public record CodebookView(
    String name, State state, CodebookEntry entry, SampleStatus sample, String data)
    implements Writeable, ToXContentObject {

  /** State of a codebook. */
  public enum State {
    /** Vectors are sampled; nothing has been trained yet. */
    SAMPLING,
    /** A node trains the codebook; the previous version, if any, remains in use. */
    TRAINING,
    /** Segments can use the codebook. */
    READY,
    /** The last training failed, and there is no version. */
    FAILED
  }

  /** Reads what {@link #writeTo} wrote. */
  public CodebookView(StreamInput in) throws IOException {
    this(
        in.readString(),
        in.readEnum(State.class),
        in.readOptionalWriteable(CodebookEntry::new),
        in.readOptionalWriteable(SampleStatus::new),
        in.readOptionalString());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeString(name);
    out.writeEnum(state);
    out.writeOptionalWriteable(entry);
    out.writeOptionalWriteable(sample);
    out.writeOptionalString(data);
  }

  /**
   * Makes a view.
   *
   * @param claimed whether a node is training the codebook
   */
  static CodebookView of(
      String name, CodebookEntry entry, boolean claimed, SampleStatus sample, String data) {
    State state;
    CodebookEntry shown = entry;
    if (entry == null) {
      state = State.SAMPLING;
    } else if (claimed) {
      state = State.TRAINING;
    } else {
      if (entry.claim() != null) {
        CodebookEntry.Claim claim = entry.claim();
        shown =
            entry.with(
                new CodebookEntry.Failure(
                    "the node that trained it has left the cluster", claim.startedAt()));
      }
      state = entry.content() == null ? State.FAILED : State.READY;
    }
    // after the first version, nodes drop their samples one after the other
    boolean sampling = entry == null || entry.content() == null;
    return new CodebookView(name, state, shown, sampling ? sample : null, data);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject();
    json.field("name", name);
    json.field("state", state.name().toLowerCase(Locale.ROOT));
    if (entry != null) {
      describe(json, entry);
    } else if (sample != null) {
      space(json, sample.options().space());
    }
    if (sample != null) {
      describe(json, sample);
    }
    if (data != null) {
      json.field("data", data);
    }
    return json.endObject();
  }

  private static void describe(XContentBuilder json, CodebookEntry entry) throws IOException {
    CodebookEntry.Content content = entry.content();
    if (content != null) {
      json.field("version", content.version());
      space(json, content.space());
      json.field("subspaces", content.subspaces());
      if (content.sampleSize() > 0) {
        json.field("quantization_error", content.quantizationError());
      }
      json.field("trained_from", content.trainedFrom());
      json.field("trained_at", time(content.trainedAt()));
      json.field("trained_on", content.sampleSize());
      json.field("documents", content.vectors());
    }
    if (entry.claim() != null) {
      json.startObject("training");
      json.field("from", entry.claim().from());
      json.field("started_at", time(entry.claim().startedAt()));
      json.endObject();
    }
    if (entry.failure() != null) {
      json.startObject("failure");
      json.field("reason", entry.failure().reason());
      json.field("at", time(entry.failure().at()));
      json.endObject();
    }
  }

  private static void space(XContentBuilder json, VectorSpace space) throws IOException {
    json.field("dims", space.dims());
    json.field("similarity", space.similarity().label());
  }

  private static void describe(XContentBuilder json, SampleStatus sample) throws IOException {
    json.startObject("sampling");
    json.field("documents", sample.seen());
    json.field("min_documents", sample.options().minDocuments());
    json.field("sampled", sample.held());
    json.field("sample_size", sample.options().sampleSize());
    json.field("capacity", sample.capacity());
    json.field("without_field", sample.missing());
    json.field("rejected", sample.rejected());
    json.field("other_options", sample.conflicts());
    json.field("missed", sample.missed());
    json.field("memory_bytes", sample.bytes());
    json.endObject();
  }

  private static String time(long millis) {
    return Instant.ofEpochMilli(millis).toString();
  }
}
