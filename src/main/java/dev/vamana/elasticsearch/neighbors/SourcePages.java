package dev.vamana.elasticsearch.neighbors;

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
import org.elasticsearch.search.sort.SortBuilders;

/**
 * The documents of an index as they are when the run begins, page by page in the order of shards
 * and documents. Vectors are read as doc values, which come from the index, so documents need no
 * {@code _source}.
 *
 * <p>One page is read at a time.
 */
final class SourcePages {

  private static final TimeValue KEEP_ALIVE = TimeValue.timeValueMinutes(10);

  private final Client client;
  private final Client closing;
  private final NeighborsRequest request;
  private BytesReference pointInTime;
  private Object[] after;
  private long total = -1;

  /**
   * Makes the pages of a request.
   *
   * @param client searches for the task of the run
   * @param closing closes what was opened, also if the task is cancelled
   */
  SourcePages(Client client, Client closing, NeighborsRequest request) {
    this.client = client;
    this.closing = closing;
    this.request = request;
  }

  /** Opens a point in time. */
  void open(ActionListener<Void> opened) {
    client.execute(
        TransportOpenPointInTimeAction.TYPE,
        new OpenPointInTimeRequest(request.indices())
            .indicesOptions(OpenPointInTimeRequest.DEFAULT_INDICES_OPTIONS)
            .keepAlive(KEEP_ALIVE),
        opened.map(
            response -> {
              pointInTime = response.getPointInTimeId();
              return null;
            }));
  }

  /** Closes the point in time if there is one. */
  void close() {
    if (pointInTime != null) {
      closing.execute(
          TransportClosePointInTimeAction.TYPE,
          new ClosePointInTimeRequest(pointInTime),
          ActionListener.noop());
    }
  }

  /** Documents with a vector; known when the first page has been read. */
  long total() {
    return total;
  }

  /** Reads the next page; its size is 0 behind the last one. */
  void next(ActionListener<Page> read) {
    NeighborsRequest.Options options = request.options();
    BoolQueryBuilder query =
        QueryBuilders.boolQuery().filter(QueryBuilders.existsQuery(options.field()));
    if (options.query() != null) {
      query.filter(options.query());
    }
    SearchSourceBuilder source =
        new SearchSourceBuilder()
            .query(query)
            .size(options.batchSize())
            .trackTotalHits(total < 0)
            .fetchSource(false)
            .docValueField(options.field())
            .sort(SortBuilders.pitTiebreaker())
            .timeout(TimeValue.MINUS_ONE)
            .pointInTimeBuilder(new PointInTimeBuilder(pointInTime).setKeepAlive(KEEP_ALIVE));
    if (after != null) {
      source.searchAfter(after);
    }
    client.search(
        new SearchRequest().source(source).allowPartialSearchResults(false), read.map(this::take));
  }

  private Page take(SearchResponse response) {
    if (total < 0 && response.getHits().getTotalHits() != null) {
      total = response.getHits().getTotalHits().value();
    }
    pointInTime = response.pointInTimeId();
    SearchHit[] hits = response.getHits().getHits();
    List<String> ids = new ArrayList<>(hits.length);
    List<Object> vectors = new ArrayList<>(hits.length);
    for (SearchHit hit : hits) {
      after = hit.getSortValues();
      DocumentField values = hit.field(request.options().field());
      Object vector = values == null ? null : Page.vector(values.getValues());
      if (vector == null) {
        throw new IllegalArgumentException(
            "the vector of document ["
                + hit.getId()
                + "] cannot be read from field ["
                + request.options().field()
                + "]");
      }
      ids.add(hit.getId());
      vectors.add(vector);
    }
    return new Page(ids, vectors);
  }
}
