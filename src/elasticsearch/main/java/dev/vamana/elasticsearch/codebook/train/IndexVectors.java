package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.codebook.sample.Sample;
import dev.vamana.elasticsearch.codebook.sample.SampleMemory;
import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import java.util.function.BooleanSupplier;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.search.ClosePointInTimeRequest;
import org.elasticsearch.action.search.OpenPointInTimeRequest;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.action.search.SearchResponse;
import org.elasticsearch.action.search.TransportClosePointInTimeAction;
import org.elasticsearch.action.search.TransportOpenPointInTimeAction;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.common.document.DocumentField;
import org.elasticsearch.common.lucene.search.function.CombineFunction;
import org.elasticsearch.core.Releasable;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.query.BoolQueryBuilder;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.index.query.QueryBuilders;
import org.elasticsearch.index.query.functionscore.RandomScoreFunctionBuilder;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.builder.PointInTimeBuilder;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.search.sort.SortBuilders;
import org.elasticsearch.tasks.TaskCancelledException;

/**
 * Draws a random sample of an index's vectors by searches on behalf of the user who asked for it,
 * so that it contains nothing the user could not search. The searches return doc values, which come
 * from the index, so documents need no {@code _source}.
 *
 * <p>Each document is drawn independently, with a probability that yields slightly more vectors
 * than needed. The index is therefore read once, page by page in document order, and nothing is
 * sorted.
 */
public final class IndexVectors implements Releasable {
  private static final TimeValue KEEP_ALIVE = TimeValue.timeValueMinutes(5);
  private static final int PAGE_COMPONENTS = 1 << 20;
  private static final int MAX_PAGE = 1_000;

  private final Client client;
  private final String index;
  private final String field;
  private final BooleanSupplier cancelled;
  private final BoolQueryBuilder filter;
  private final Sample sample;

  /**
   * Makes a source of an index.
   *
   * @param client a client that acts for the user
   * @param index names, aliases and patterns, separated by commas
   * @param field a field of type {@code dense_vector} with floats
   * @param query query for the documents, or null for all
   * @param options dims and similarity of the field, and how many vectors to draw
   * @param memory counts the vectors until this source is closed
   * @param cancelled whether to stop
   * @throws org.elasticsearch.common.breaker.CircuitBreakingException if there is no memory for the
   *     smallest sample
   */
  public IndexVectors(
      Client client,
      String index,
      String field,
      QueryBuilder query,
      SampleOptions options,
      SampleMemory memory,
      BooleanSupplier cancelled) {
    this.client = client;
    this.index = index;
    this.field = field;
    int most = memory.fitting(options.sampleSize(), options.space().dims());
    sample = new Sample(options.atMost(most), memory, Sample.freshSeed());
    this.cancelled = cancelled;
    filter = QueryBuilders.boolQuery().filter(QueryBuilders.existsQuery(field));
    if (query != null) {
      filter.filter(query);
    }
  }

  /** Drops the vectors and gives their memory back. */
  @Override
  public void close() {
    sample.close();
  }

  /** Draws vectors, at most once. */
  public void draw(ActionListener<Trainer.Drawn> listener) {
    client.execute(
        TransportOpenPointInTimeAction.TYPE,
        new OpenPointInTimeRequest(Strings.splitStringByCommaToArray(index))
            .indicesOptions(OpenPointInTimeRequest.DEFAULT_INDICES_OPTIONS)
            .keepAlive(KEEP_ALIVE),
        listener.delegateFailureAndWrap(
            (l, opened) -> {
              BytesReference id = opened.getPointInTimeId();
              ActionListener<Trainer.Drawn> end = ActionListener.runBefore(l, () -> close(id));
              ActionListener.run(end, e -> count(id, e));
            }));
  }

  private void close(BytesReference id) {
    client.execute(
        TransportClosePointInTimeAction.TYPE,
        new ClosePointInTimeRequest(id),
        ActionListener.noop());
  }

  private void count(BytesReference id, ActionListener<Trainer.Drawn> listener) {
    SearchSourceBuilder source =
        new SearchSourceBuilder().query(filter).size(0).trackTotalHits(true);
    search(
        id,
        source,
        listener.delegateFailureAndWrap(
            (l, response) -> {
              long documents = response.getHits().getTotalHits().value();
              // six standard deviations above the target, so that drawing too few is very unlikely
              int most = sample.options().sampleSize();
              double probability = Math.min(1, (most + 6 * Math.sqrt(most)) / documents);
              page(
                  id,
                  probability,
                  null,
                  l.map(done -> new Trainer.Drawn(sample.rows(), documents)));
            }));
  }

  private void search(
      BytesReference id, SearchSourceBuilder source, ActionListener<SearchResponse> listener) {
    source.pointInTimeBuilder(new PointInTimeBuilder(id).setKeepAlive(KEEP_ALIVE));
    client.search(new SearchRequest().source(source).allowPartialSearchResults(false), listener);
  }

  /**
   * Reads the documents after the one with the sort values {@code after}, page by page.
   *
   * @param probability probability with which a document is drawn
   */
  private void page(
      BytesReference id, double probability, Object[] after, ActionListener<Void> listener) {
    if (cancelled.getAsBoolean()) {
      throw new TaskCancelledException("the training was cancelled");
    }
    int size = Math.clamp(PAGE_COMPONENTS / sample.options().space().dims(), 1, MAX_PAGE);
    SearchSourceBuilder source =
        new SearchSourceBuilder()
            .query(filter)
            .size(size)
            .trackTotalHits(false)
            .fetchSource(false)
            .docValueField(field)
            .sort(SortBuilders.pitTiebreaker());
    if (probability < 1) {
      source
          .query(
              QueryBuilders.functionScoreQuery(filter, new RandomScoreFunctionBuilder())
                  .boostMode(CombineFunction.REPLACE))
          .minScore((float) (1 - probability))
          .trackScores(true);
    }
    if (after != null) {
      source.searchAfter(after);
    }
    search(
        id,
        source,
        listener.delegateFailureAndWrap(
            (l, response) -> {
              SearchHit[] hits = response.getHits().getHits();
              for (SearchHit hit : hits) {
                offer(hit.field(field));
              }
              if (hits.length == size) {
                Object[] last = hits[size - 1].getSortValues();
                page(response.pointInTimeId(), probability, last, l);
              } else {
                l.onResponse(null);
              }
            }));
  }

  /** Offers the vector of one document in its stored form, if it has one. */
  private void offer(DocumentField values) {
    if (values != null
        && values.getValues().size() == 1
        && values.getValues().get(0) instanceof float[] found) {
      float[] vector = found.clone();
      if (sample.options().space().prepare(vector)) {
        sample.offer(vector);
      }
    }
  }
}
