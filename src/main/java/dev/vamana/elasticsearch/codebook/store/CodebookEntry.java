package dev.vamana.elasticsearch.codebook.store;

import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.pq.SharedCodebook;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * A stored codebook without its centroids.
 *
 * @param name name of the codebook
 * @param content the newest version, trained or imported, or null if there is none
 * @param claim the running training, or null
 * @param failure failure of the last training, or null if it succeeded
 */
public record CodebookEntry(String name, Content content, Claim claim, Failure failure)
    implements Writeable {

  /**
   * A version of a codebook.
   *
   * @param version number of the version, from 1
   * @param space the vectors that the codebook is for
   * @param subspaces length of a code in bytes
   * @param quantizationError mean squared error over the vectors it was trained on
   * @param vectors number of vectors that the sample was drawn from
   * @param sampleSize number of vectors it was trained on
   * @param trainedFrom source of the vectors, for people to read
   * @param trainedAt milliseconds since 1970
   */
  public record Content(
      int version,
      VectorSpace space,
      int subspaces,
      double quantizationError,
      long vectors,
      int sampleSize,
      String trainedFrom,
      long trainedAt)
      implements Writeable {

    Content(StreamInput in) throws IOException {
      this(
          in.readVInt(),
          new VectorSpace(in),
          in.readVInt(),
          in.readDouble(),
          in.readVLong(),
          in.readVInt(),
          in.readString(),
          in.readLong());
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeVInt(version);
      space.writeTo(out);
      out.writeVInt(subspaces);
      out.writeDouble(quantizationError);
      out.writeVLong(vectors);
      out.writeVInt(sampleSize);
      out.writeString(trainedFrom);
      out.writeLong(trainedAt);
    }
  }

  /**
   * A node's right to train a codebook.
   *
   * @param node ephemeral id of the node; the claim is void once that node has left or restarted
   * @param from source of the vectors, for people to read
   * @param startedAt milliseconds since 1970
   */
  public record Claim(String node, String from, long startedAt) implements Writeable {
    Claim(StreamInput in) throws IOException {
      this(in.readString(), in.readString(), in.readLong());
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeString(node);
      out.writeString(from);
      out.writeLong(startedAt);
    }
  }

  /**
   * A failed training.
   *
   * @param reason reason of the failure, for people to read
   * @param at milliseconds since 1970
   */
  public record Failure(String reason, long at) implements Writeable {
    Failure(StreamInput in) throws IOException {
      this(in.readString(), in.readLong());
    }

    @Override
    public void writeTo(StreamOutput out) throws IOException {
      out.writeString(reason);
      out.writeLong(at);
    }
  }

  /** Reads what {@link #writeTo} wrote. */
  public CodebookEntry(StreamInput in) throws IOException {
    this(
        in.readString(),
        in.readOptionalWriteable(Content::new),
        in.readOptionalWriteable(Claim::new),
        in.readOptionalWriteable(Failure::new));
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeString(name);
    out.writeOptionalWriteable(content);
    out.writeOptionalWriteable(claim);
    out.writeOptionalWriteable(failure);
  }

  /** Makes the entry of a codebook that is ready and not being trained. */
  public static CodebookEntry ready(
      SharedCodebook codebook, VectorSpace.Similarity similarity, long trainedAt) {
    Content content =
        new Content(
            (int) codebook.version(),
            new VectorSpace(codebook.dimension(), similarity),
            codebook.subspaces(),
            codebook.training().quantizationError(),
            codebook.training().vectors(),
            codebook.training().sampleSize(),
            codebook.training().trainedFrom(),
            trainedAt);
    return new CodebookEntry(codebook.name(), content, null, null);
  }

  /** Number of the next version. */
  public int nextVersion() {
    return content == null ? 1 : Math.addExact(content.version(), 1);
  }

  /** Returns this entry with a claim. */
  public CodebookEntry with(Claim newClaim) {
    return new CodebookEntry(name, content, newClaim, failure);
  }

  /** Returns this entry with a failure and without a claim. */
  public CodebookEntry with(Failure newFailure) {
    return new CodebookEntry(name, content, null, newFailure);
  }

  Map<String, Object> toMap() {
    Map<String, Object> map = new HashMap<>();
    map.put("name", name);
    if (content != null) {
      map.put(
          "content",
          Map.of(
              "version",
              content.version(),
              "dims",
              content.space().dims(),
              "similarity",
              content.space().similarity().label(),
              "subspaces",
              content.subspaces(),
              "quantization_error",
              content.quantizationError(),
              "vectors",
              content.vectors(),
              "sample_size",
              content.sampleSize(),
              "trained_from",
              content.trainedFrom(),
              "trained_at",
              content.trainedAt()));
    }
    if (claim != null) {
      map.put(
          "claim",
          Map.of("node", claim.node(), "from", claim.from(), "started_at", claim.startedAt()));
    }
    if (failure != null) {
      map.put("failure", Map.of("reason", failure.reason(), "at", failure.at()));
    }
    return map;
  }

  static CodebookEntry ofMap(Map<String, Object> map) {
    Map<?, ?> content = (Map<?, ?>) map.get("content");
    Map<?, ?> claim = (Map<?, ?>) map.get("claim");
    Map<?, ?> failure = (Map<?, ?>) map.get("failure");
    return new CodebookEntry(
        (String) map.get("name"),
        content == null
            ? null
            : new Content(
                number(content, "version").intValue(),
                new VectorSpace(
                    number(content, "dims").intValue(),
                    VectorSpace.Similarity.of((String) content.get("similarity"))),
                number(content, "subspaces").intValue(),
                number(content, "quantization_error").doubleValue(),
                number(content, "vectors").longValue(),
                number(content, "sample_size").intValue(),
                (String) content.get("trained_from"),
                number(content, "trained_at").longValue()),
        claim == null
            ? null
            : new Claim(
                (String) claim.get("node"),
                (String) claim.get("from"),
                number(claim, "started_at").longValue()),
        failure == null
            ? null
            : new Failure((String) failure.get("reason"), number(failure, "at").longValue()));
  }

  private static Number number(Map<?, ?> map, String key) {
    return (Number) map.get(key);
  }
}
