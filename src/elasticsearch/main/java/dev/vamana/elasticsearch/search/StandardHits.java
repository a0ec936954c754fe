package dev.vamana.elasticsearch.search;

import java.util.Iterator;
import java.util.List;
import org.elasticsearch.common.collect.Iterators;
import org.elasticsearch.common.xcontent.ChunkedToXContentHelper;
import org.elasticsearch.search.SearchHits;
import org.elasticsearch.xcontent.ToXContent;

/**
 * Hits in the form of the standard search.
 *
 * @param responses one list of hits per query, in the order of the queries; released with this
 *     object
 */
public record StandardHits(List<SearchHits> responses) implements BatchHits {

  @Override
  public int queries() {
    return responses.size();
  }

  @Override
  public Iterator<? extends ToXContent> toXContentChunked(ToXContent.Params params) {
    return Iterators.concat(
        ChunkedToXContentHelper.startArray("responses"),
        Iterators.flatMap(
            responses.iterator(),
            hits ->
                Iterators.concat(
                    ChunkedToXContentHelper.startObject(),
                    hits.toXContentChunked(params),
                    ChunkedToXContentHelper.endObject())),
        ChunkedToXContentHelper.endArray());
  }

  @Override
  public void close() {
    responses.forEach(SearchHits::decRef);
  }
}
