package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.codebook.sample.SampleMemory;
import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.sample.Seeds;
import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;
import org.apache.lucene.search.TotalHits;
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
final class IndexVectors implements VectorSource {
  private static final TimeValue KEEP_ALIVE = TimeValue.timeValueMinutes(5);
  private static final int PAGE_COMPONENTS = 1 << 20;
  private static final int MAX_PAGE = 1_000;

  private final Client client;
  private final String index;
  private final String field;
  private final VectorSpace space;
  private final BooleanSupplier cancelled;
  private final BoolQueryBuilder filter;

  /**
   * Makes a source of an index.
   *
   * @param client a client that acts for the user
   * @param query query for the documents, or null for all
   * @param cancelled whether to stop
   */
  IndexVectors(
      Client client,
      String index,
      String field,
      VectorSpace space,
      QueryBuilder query,
      BooleanSupplier cancelled) {
    this.client = client;
    this.index = index;
    this.field = field;
    this.space = space;
    this.cancelled = cancelled;
    filter = QueryBuilders.boolQuery().filter(QueryBuilders.existsQuery(field));
    if (query != null) {
      filter.filter(query);
    }
  }

  @Override
  public void draw(int most, SampleMemory.Rows memory, ActionListener<Drawn> listener) {
    client.execute(
        TransportOpenPointInTimeAction.TYPE,
        new OpenPointInTimeRequest(Strings.splitStringByCommaToArray(index))
            .indicesOptions(OpenPointInTimeRequest.DEFAULT_INDICES_OPTIONS)
            .keepAlive(KEEP_ALIVE),
        listener.delegateFailureAndWrap(
            (l, opened) -> {
              BytesReference id = opened.getPointInTimeId();
              count(most, memory, id, ActionListener.runBefore(l, () -> close(id)));
            }));
  }

  private void close(BytesReference id) {
    client.execute(
        TransportClosePointInTimeAction.TYPE,
        new ClosePointInTimeRequest(id),
        ActionListener.noop());
  }

  private SearchRequest search(BytesReference id, SearchSourceBuilder source) {
    source.pointInTimeBuilder(new PointInTimeBuilder(id).setKeepAlive(KEEP_ALIVE));
    return new SearchRequest().source(source).allowPartialSearchResults(false);
  }

  private void count(
      int most, SampleMemory.Rows memory, BytesReference id, ActionListener<Drawn> listener) {
    SearchSourceBuilder source =
        new SearchSourceBuilder().query(filter).size(0).trackTotalHits(true);
    client.search(
        search(id, source),
        listener.delegateFailureAndWrap(
            (l, response) -> {
              TotalHits total = response.getHits().getTotalHits();
              long documents = total == null ? 0 : total.value();
              if (documents < SampleOptions.MIN_SAMPLE_SIZE) {
                throw new IllegalArgumentException(
                    "a codebook needs at least "
                        + SampleOptions.MIN_SAMPLE_SIZE
                        + " vectors, but field ["
                        + field
                        + "] of ["
                        + index
                        + "] has "
                        + documents
                        + " searchable ones (vectors in nested documents do not count)");
              }
              // six standard deviations above the target, so that drawing too few is very
              // unlikely
              double probability = Math.min(1, (most + 6 * Math.sqrt(most)) / documents);
              Pages pages = new Pages(most, memory, documents, probability);
              pages.next(id, null, l);
            }));
  }

  /** The pages of one pass over the index. */
  private final class Pages {
    private final int most;
    private final SampleMemory.Rows memory;
    private final long documents;
    private final double probability;
    private final int page;
    private final List<float[]> rows = new ArrayList<>();
    private final SplittableRandom random = new SplittableRandom(Seeds.next());
    private long drawn;

    Pages(int most, SampleMemory.Rows memory, long documents, double probability) {
      this.most = most;
      this.memory = memory;
      this.documents = documents;
      this.probability = probability;
      page = Math.max(1, Math.min(MAX_PAGE, PAGE_COMPONENTS / space.dims()));
    }

    void next(BytesReference id, Object[] after, ActionListener<Drawn> listener) {
      if (cancelled.getAsBoolean()) {
        listener.onFailure(new TaskCancelledException("training was cancelled"));
        return;
      }
      SearchSourceBuilder source =
          new SearchSourceBuilder()
              .query(query())
              .size(page)
              .trackTotalHits(false)
              .fetchSource(false)
              .docValueField(field)
              .sort(SortBuilders.pitTiebreaker());
      if (probability < 1) {
        source.minScore((float) (1 - probability));
        source.trackScores(true);
      }
      if (after != null) {
        source.searchAfter(after);
      }
      client.search(
          search(id, source), listener.delegateFailureAndWrap((l, response) -> take(response, l)));
    }

    private QueryBuilder query() {
      return probability == 1
          ? filter
          : QueryBuilders.functionScoreQuery(filter, new RandomScoreFunctionBuilder())
              .boostMode(CombineFunction.REPLACE);
    }

    private void take(SearchResponse response, ActionListener<Drawn> listener) {
      SearchHit[] hits = response.getHits().getHits();
      for (SearchHit hit : hits) {
        DocumentField values = hit.field(field);
        if (values != null) {
          float[] vector = vector(values.getValues());
          if (vector != null) {
            keep(vector);
          }
        }
      }
      if (hits.length == page) {
        next(response.pointInTimeId(), hits[hits.length - 1].getSortValues(), listener);
      } else if (rows.size() < SampleOptions.MIN_SAMPLE_SIZE) {
        listener.onFailure(
            new IllegalArgumentException(
                "a codebook needs at least "
                    + SampleOptions.MIN_SAMPLE_SIZE
                    + " vectors, but only "
                    + rows.size()
                    + " of field ["
                    + field
                    + "] could be read"));
      } else {
        listener.onResponse(new Drawn(rows, Math.max(documents, rows.size())));
      }
    }

    /** Keeps a uniform sample of the drawn vectors. */
    private void keep(float[] vector) {
      drawn++;
      if (rows.size() < most) {
        memory.add(1);
        rows.add(vector);
        return;
      }
      long at = random.nextLong(drawn);
      if (at < most) {
        rows.set((int) at, vector);
      }
    }

    /** The vector of one document in its stored form, or null if there is none. */
    private float[] vector(List<Object> values) {
      if (values.size() != 1 || !(values.get(0) instanceof float[] found)) {
        return null;
      }
      float[] vector = found.clone();
      return space.prepare(vector) == null ? vector : null;
    }
  }
}
