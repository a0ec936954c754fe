package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.List;
import java.util.Locale;
import org.elasticsearch.TransportVersion;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.search.SearchExtBuilder;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.xcontent.XContentBuilder;

/** A batch as the source of a search shows it in the search slow log. It never leaves the node. */
final class BatchInLog extends SearchExtBuilder {
  private static final String NAME = "vamana_batch";

  private final BatchSummary batch;

  private BatchInLog(BatchSummary batch) {
    this.batch = batch;
  }

  /** A source that describes a batch. */
  static SearchSourceBuilder source(BatchSummary batch) {
    return new SearchSourceBuilder().ext(List.of(new BatchInLog(batch)));
  }

  @Override
  public String getWriteableName() {
    return NAME;
  }

  @Override
  public TransportVersion getMinimalSupportedVersion() {
    return TransportVersion.current();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    throw new UnsupportedOperationException("only for the log of this node");
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject(NAME);
    batch.toXContent(json, params);
    return json.endObject();
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof BatchInLog that && batch.equals(that.batch);
  }

  @Override
  public int hashCode() {
    return batch.hashCode();
  }

  @Override
  public String toString() {
    return String.format(Locale.ROOT, "%d vectors for field [%s]", batch.vectors(), batch.field());
  }
}
