package dev.vamana.elasticsearch.codebook.sample;

import java.io.IOException;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * The state of a sample, on one node or summed over several.
 *
 * @param name name of the codebook
 * @param options options of the sample
 * @param seen vectors offered to the sample
 * @param held vectors in the sample
 * @param capacity most vectors in the sample: the sample size, or fewer if memory is short
 * @param missing documents without the field
 * @param rejected documents whose value is not a valid vector for the codebook
 * @param conflicts documents from a processor with other options
 * @param missed vectors that arrived while the sample was being collected, or for which there was
 *     no memory
 * @param bytes heap of the vectors in the sample
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

  /** Returns the sum of both; keeps this one's name and options. */
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
