package dev.vamana.elasticsearch.codebook.action;

import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.pq.SharedCodebook;
import java.io.IOException;
import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.action.UntypedActionRequest;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;

/** Stores a codebook that was trained elsewhere. */
public final class PutCodebookRequest extends UntypedActionRequest {
  private final SharedCodebook codebook;
  private final VectorSpace.Similarity similarity;
  private final boolean force;

  /**
   * Makes a request.
   *
   * @param codebook the codebook with its new name; it gets its version when it is stored
   * @param similarity similarity of the fields that use the codebook
   * @param force whether to store it even if indices that name it cannot use it
   */
  public PutCodebookRequest(
      SharedCodebook codebook, VectorSpace.Similarity similarity, boolean force) {
    this.codebook = codebook;
    this.similarity = similarity;
    this.force = force;
  }

  /** Reads what {@link #writeTo} wrote. */
  public PutCodebookRequest(StreamInput in) throws IOException {
    super(in);
    codebook = SharedCodebook.fromBytes(in.readByteArray());
    similarity = in.readEnum(VectorSpace.Similarity.class);
    force = in.readBoolean();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeByteArray(codebook.toBytes());
    out.writeEnum(similarity);
    out.writeBoolean(force);
  }

  SharedCodebook codebook() {
    return codebook;
  }

  VectorSpace.Similarity similarity() {
    return similarity;
  }

  boolean force() {
    return force;
  }

  @Override
  public ActionRequestValidationException validate() {
    return null;
  }
}
