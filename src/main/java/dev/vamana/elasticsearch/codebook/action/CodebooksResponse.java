package dev.vamana.elasticsearch.codebook.action;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

/** Codebooks by name. */
public final class CodebooksResponse extends ActionResponse implements ToXContentObject {
  private final List<CodebookView> codebooks;

  CodebooksResponse(List<CodebookView> codebooks) {
    this.codebooks = List.copyOf(codebooks);
  }

  /** Reads what {@link #writeTo} wrote. */
  public CodebooksResponse(StreamInput in) throws IOException {
    codebooks = in.readCollectionAsImmutableList(CodebookView::new);
  }

  /** The codebooks, ordered by name. */
  public List<CodebookView> codebooks() {
    return codebooks;
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeCollection(codebooks);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject().startArray("codebooks");
    for (CodebookView codebook : codebooks) {
      codebook.toXContent(json, params);
    }
    return json.endArray().endObject();
  }
}
