package dev.vamana.elasticsearch.search.neighbors;

import java.util.ArrayList;
import java.util.List;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.common.document.DocumentField;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.search.slice.SliceBuilder;
import org.elasticsearch.search.sort.SortBuilders;

/**
 * A slice of a {@link Snapshot}, page by page in the order of shards and documents. Vectors are
 * read as doc values, which come from the index, so documents need no {@code _source}.
 *
 * <p>One page is read at a time.
 */
final class SourcePages {

  private final Client client;
  private final NeighborsRequest.Options options;
  private final Snapshot snapshot;
  private final SliceBuilder slice;
  private Object[] after;

  /**
   * Makes the pages of a slice.
   *
   * @param client searches for the task of the run
   * @param snapshot the documents, opened
   * @param slice which of them; null for all
   */
  SourcePages(
      Client client, NeighborsRequest.Options options, Snapshot snapshot, SliceBuilder slice) {
    this.client = client;
    this.options = options;
    this.snapshot = snapshot;
    this.slice = slice;
  }

  /** Reads the next page; its size is 0 behind the last one. */
  void next(ActionListener<Page> read) {
    SearchSourceBuilder source =
        snapshot
            .search()
            .size(options.batchSize())
            .trackTotalHits(false)
            .docValueField(options.field())
            .sort(SortBuilders.pitTiebreaker());
    if (slice != null) {
      source.slice(slice);
    }
    if (after != null) {
      source.searchAfter(after);
    }
    client.search(
        new SearchRequest().source(source).allowPartialSearchResults(false), read.map(this::take));
  }

  private Page take(SearchResponse response) {
    snapshot.seen(response);
    SearchHit[] hits = response.getHits().getHits();
    List<String> ids = new ArrayList<>(hits.length);
    List<Object> vectors = new ArrayList<>(hits.length);
    for (SearchHit hit : hits) {
      after = hit.getSortValues();
      DocumentField values = hit.field(options.field());
      Object vector = values == null ? null : Page.vector(values.getValues());
      if (vector == null) {
        throw new IllegalArgumentException(
            "the vector of document ["
                + hit.getId()
                + "] cannot be read from field ["
                + options.field()
                + "]");
      }
      ids.add(hit.getId());
      vectors.add(vector);
    }
    return new Page(ids, vectors);
  }
}
