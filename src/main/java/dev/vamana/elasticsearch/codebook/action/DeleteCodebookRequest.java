package dev.vamana.elasticsearch.codebook.action;

import java.io.IOException;
import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.action.UntypedActionRequest;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;

/** Deletes a codebook and its samples. */
public final class DeleteCodebookRequest extends UntypedActionRequest {
  private final String name;
  private final boolean force;

  /**
   * Makes a request.
   *
   * @param force whether to delete the codebook even if indices name it
   */
  public DeleteCodebookRequest(String name, boolean force) {
    this.name = name;
    this.force = force;
  }

  /** Reads what {@link #writeTo} wrote. */
  public DeleteCodebookRequest(StreamInput in) throws IOException {
    super(in);
    name = in.readString();
    force = in.readBoolean();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeString(name);
    out.writeBoolean(force);
  }

  String name() {
    return name;
  }

  boolean force() {
    return force;
  }

  @Override
  public ActionRequestValidationException validate() {
    return null;
  }
}
