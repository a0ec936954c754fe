package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.search.fetch.subphase.FetchSourceContext;
import org.elasticsearch.search.fetch.subphase.FieldAndFormat;

/**
 * The parts of the hits' documents to read.
 *
 * @param idsOnly whether to read only ids
 * @param source the parts of the source, or null for the default
 * @param fields the fields
 */
public record FetchSpec(boolean idsOnly, FetchSourceContext source, List<FieldAndFormat> fields)
    implements Writeable {

  static FetchSpec readFrom(StreamInput in) throws IOException {
    return new FetchSpec(
        in.readBoolean(),
        in.readOptionalWriteable(FetchSourceContext::readFrom),
        in.readCollectionAsImmutableList(FieldAndFormat::new));
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeBoolean(idsOnly);
    out.writeOptionalWriteable(source);
    out.writeCollection(fields);
  }
}
