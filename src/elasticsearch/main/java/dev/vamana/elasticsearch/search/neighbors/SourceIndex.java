package dev.vamana.elasticsearch.search.neighbors;

import java.util.ArrayList;
import java.util.List;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.search.ClosePointInTimeRequest;
import org.elasticsearch.action.search.OpenPointInTimeRequest;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.action.search.TransportClosePointInTimeAction;
import org.elasticsearch.action.search.TransportOpenPointInTimeAction;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.common.document.DocumentField;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.query.BoolQueryBuilder;
import org.elasticsearch.index.query.QueryBuilders;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.builder.PointInTimeBuilder;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.search.slice.SliceBuilder;
import org.elasticsearch.search.sort.SortBuilders;

/**
 * The documents that get neighbours, as they are when the run begins: a point in time of the index.
 * Vectors are read as doc values, which come from the index, so documents need no {@code _source}.
 * Thread-safe once it is open.
 */
final class SourceIndex {

  private static final TimeValue KEEP_ALIVE = TimeValue.timeValueMinutes(10);

  private final Client client;
  private final Client closing;
  private final NeighborsRequest request;
  private final NeighborsRequest.Options options;
  private volatile BytesReference pointInTime;

  /**
   * Makes an index that is not open yet.
   *
   * @param client searches for the task of the run
   * @param closing closes what was opened, also if the task is cancelled
   */
  SourceIndex(Client client, Client closing, NeighborsRequest request) {
    this.client = client;
    this.closing = closing;
    this.request = request;
    this.options = request.options();
  }

  /**
   * Opens the point in time.
   *
   * @param opened notified of the number of documents
   */
  void open(ActionListener<Long> opened) {
    client.execute(
        TransportOpenPointInTimeAction.TYPE,
        new OpenPointInTimeRequest(request.indices())
            .indicesOptions(OpenPointInTimeRequest.DEFAULT_INDICES_OPTIONS)
            .keepAlive(KEEP_ALIVE),
        opened.delegateFailureAndWrap(
            (next, response) -> {
              pointInTime = response.getPointInTimeId();
              search(
                  source().size(0).trackTotalHits(true),
                  next.map(found -> found.getHits().getTotalHits().value()));
            }));
  }

  /** Closes the point in time if it is open. */
  void close() {
    if (pointInTime != null) {
      closing.execute(
          TransportClosePointInTimeAction.TYPE,
          new ClosePointInTimeRequest(pointInTime),
          ActionListener.noop());
    }
  }

  private SearchSourceBuilder source() {
    BoolQueryBuilder query =
        QueryBuilders.boolQuery().filter(QueryBuilders.existsQuery(options.field()));
    if (options.query() != null) {
      query.filter(options.query());
    }
    return new SearchSourceBuilder()
        .query(query)
        .fetchSource(false)
        .timeout(TimeValue.MINUS_ONE)
        .pointInTimeBuilder(new PointInTimeBuilder(pointInTime).setKeepAlive(KEEP_ALIVE));
  }

  /** Searches, and keeps the name of the point in time, which a search may change. */
  private void search(SearchSourceBuilder source, ActionListener<SearchResponse> found) {
    client.search(
        new SearchRequest().source(source).allowPartialSearchResults(false),
        found.map(
            response -> {
              pointInTime = response.pointInTimeId();
              return response;
            }));
  }

  /** A slice of the documents, page by page in the order of shards and documents. */
  final class Pages {
    private final SliceBuilder slice;
    private Object[] after;

    /** Makes the pages of slice {@code number} of {@code count}. */
    Pages(int number, int count) {
      slice = count == 1 ? null : new SliceBuilder(number, count);
    }

    /** Reads the next page, when the one before has been read; its size is 0 behind the last. */
    void next(ActionListener<Page> read) {
      SearchSourceBuilder source =
          source()
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
      search(source, read.map(this::take));
    }

    private Page take(SearchResponse response) {
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
}
