package dev.vamana.elasticsearch.codebook.action;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.action.UntypedActionRequest;
import org.elasticsearch.action.ValidateActions;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;

/** Asks for codebooks by name. */
public final class GetCodebooksRequest extends UntypedActionRequest {
  private final List<String> names;
  private final boolean data;

  /**
   * Makes a request.
   *
   * @param names names of codebooks, or patterns with {@code *}; none means all
   * @param data whether to return the codebook's bytes, too; requires exactly one name
   */
  public GetCodebooksRequest(List<String> names, boolean data) {
    this.names = List.copyOf(names);
    this.data = data;
  }

  /** Reads what {@link #writeTo} wrote. */
  public GetCodebooksRequest(StreamInput in) throws IOException {
    super(in);
    names = in.readStringCollectionAsImmutableList();
    data = in.readBoolean();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeStringCollection(names);
    out.writeBoolean(data);
  }

  List<String> names() {
    return names;
  }

  boolean data() {
    return data;
  }

  @Override
  public ActionRequestValidationException validate() {
    return data && (names.size() != 1 || names.get(0).contains("*"))
        ? ValidateActions.addValidationError("[data] requires the name of a single codebook", null)
        : null;
  }
}
