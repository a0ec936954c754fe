package dev.vamana.elasticsearch.codebook.sample;

import java.io.IOException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * How far a sample is, on one node or on several together.
 *
 * @param name of the codebook
 * @param options of the sample
 * @param seen vectors that could be sampled
 * @param held vectors in the sample
 * @param capacity most vectors that it may hold: the sample size, or fewer where memory is short
 * @param missing documents without the field
 * @param rejected documents whose value is no vector of the codebook's kind
 * @param conflicts documents of a processor with other options
 * @param missed vectors that came while the sample was being collected, or had no memory
 * @param bytes heap reserved
 */
public record SampleStatus(
    String name,
    SampleOptions options,
    long seen,
    long held,
    long capacity,
    long missing,
    long rejected,
    long conflicts,
    long missed,
    long bytes)
    implements Writeable {

  /** Reads what {@link #writeTo} wrote. */
  public SampleStatus(StreamInput in) throws IOException {
    this(
        in.readString(),
        new SampleOptions(in),
        in.readVLong(),
        in.readVLong(),
        in.readVLong(),
        in.readVLong(),
        in.readVLong(),
        in.readVLong(),
        in.readVLong(),
        in.readVLong());
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeString(name);
    options.writeTo(out);
    out.writeVLong(seen);
    out.writeVLong(held);
    out.writeVLong(capacity);
    out.writeVLong(missing);
    out.writeVLong(rejected);
    out.writeVLong(conflicts);
    out.writeVLong(missed);
    out.writeVLong(bytes);
  }

  /** Both together; options are this one's. */
  public SampleStatus plus(SampleStatus other) {
    return new SampleStatus(
        name,
        options,
        seen + other.seen,
        held + other.held,
        capacity + other.capacity,
        missing + other.missing,
        rejected + other.rejected,
        conflicts + other.conflicts,
        missed + other.missed,
        bytes + other.bytes);
  }
}
