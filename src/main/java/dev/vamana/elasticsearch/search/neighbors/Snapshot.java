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
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.query.BoolQueryBuilder;
import org.elasticsearch.index.query.QueryBuilders;
import org.elasticsearch.search.builder.PointInTimeBuilder;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.search.slice.SliceBuilder;

/**
 * The documents that get neighbours, as they are when the run begins: a point in time of the index.
 * Thread-safe once it is open.
 */
final class Snapshot {

  private static final TimeValue KEEP_ALIVE = TimeValue.timeValueMinutes(10);

  private final Client client;
  private final Client closing;
  private final NeighborsRequest request;
  private volatile BytesReference pointInTime;

  /**
   * Makes a snapshot that is not open yet.
   *
   * @param client searches for the task of the run
   * @param closing closes what was opened, also if the task is cancelled
   */
  Snapshot(Client client, Client closing, NeighborsRequest request) {
    this.client = client;
    this.closing = closing;
    this.request = request;
  }

  /**
   * Opens the snapshot.
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
              count(next);
            }));
  }

  private void count(ActionListener<Long> counted) {
    client.search(
        new SearchRequest()
            .source(search().size(0).trackTotalHits(true))
            .allowPartialSearchResults(false),
        counted.map(
            response -> {
              seen(response);
              return response.getHits().getTotalHits().value();
            }));
  }

  /** Closes the snapshot if it is open. */
  void close() {
    if (pointInTime != null) {
      closing.execute(
          TransportClosePointInTimeAction.TYPE,
          new ClosePointInTimeRequest(pointInTime),
          ActionListener.noop());
    }
  }

  /** Divides the documents. */
  List<SourcePages> slices(int count) {
    List<SourcePages> slices = new ArrayList<>(count);
    for (int i = 0; i < count; i++) {
      SliceBuilder slice = count == 1 ? null : new SliceBuilder(i, count);
      slices.add(new SourcePages(client, request.options(), this, slice));
    }
    return slices;
  }

  /** Begins a search of the documents, which reads no {@code _source}. */
  SearchSourceBuilder search() {
    NeighborsRequest.Options options = request.options();
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

  /** Keeps the name of the point in time, which a search may change. */
  void seen(SearchResponse response) {
    pointInTime = response.pointInTimeId();
  }
}
