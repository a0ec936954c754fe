package dev.vamana.elasticsearch.codebook;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

/** Describes codebooks, ordered by name. It is never sent over the wire. */
public final class CodebooksResponse extends ActionResponse implements ToXContentObject {
  private final List<Map<String, Object>> codebooks;

  CodebooksResponse(List<Map<String, Object>> codebooks) {
    this.codebooks = codebooks;
  }

  @Override
  public void writeTo(StreamOutput out) {
    TransportAction.localOnly();
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    return json.startObject().field("codebooks", codebooks).endObject();
  }
}
