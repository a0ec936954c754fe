package dev.vamana.elasticsearch.search;

import dev.vamana.search.VamanaSearchStrategy;
import dev.vamana.search.WalkParameters;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.lucene.search.BooleanClause;
import org.apache.lucene.search.BooleanQuery;
import org.apache.lucene.search.MatchAllDocsQuery;
import org.apache.lucene.search.MatchNoDocsQuery;
import org.apache.lucene.search.Query;
import org.elasticsearch.index.IndexSettings;
import org.elasticsearch.index.mapper.MappedFieldType;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.DenseVectorFieldType;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.ElementType;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.index.query.Rewriteable;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.search.internal.AliasFilter;
import org.elasticsearch.search.vectors.CachingEnableFilterQuery;
import org.elasticsearch.search.vectors.ESKnnByteVectorQuery;
import org.elasticsearch.search.vectors.ESKnnFloatVectorQuery;
import org.elasticsearch.search.vectors.VectorData;

/**
 * Makes the query of each vector in the same way as the {@code knn} section of a search, so that
 * vectors are checked, converted and normalized alike and scores are equal.
 */
final class VectorQueries {

  private final SearchExecutionContext context;
  private final DenseVectorFieldType field;
  private final ShardQuery query;
  private final boolean empty;

  /**
   * Makes the queries of a field.
   *
   * @param field the field's type in the mapping of the shard's index
   */
  private VectorQueries(
      SearchExecutionContext context, DenseVectorFieldType field, ShardQuery query) {
    this.context = context;
    this.field = field;
    this.query = query;
    this.empty = hasNoVectors();
  }

  /**
   * Makes the queries of a batch of a mapped field; returns null if no document has had a vector in
   * the field yet.
   *
   * @throws IllegalArgumentException if the field does not support vector searches, or k is above
   *     the result window of the index
   */
  static VectorQueries of(SearchExecutionContext context, ShardQuery query) {
    MappedFieldType type = context.getFieldType(query.field());
    if (type instanceof DenseVectorFieldType == false) {
      throw new IllegalArgumentException(
          "a batched search requires a [dense_vector] field, but field ["
              + query.field()
              + "] is of type ["
              + type.typeName()
              + "]");
    }
    String nested = context.nestedLookup().getNestedParent(query.field());
    if (nested != null) {
      throw new IllegalArgumentException(
          "a batched search requires a field of top-level documents, but field ["
              + query.field()
              + "] belongs to the nested documents of ["
              + nested
              + "]");
    }
    int most = context.getIndexSettings().getMaxResultWindow();
    if (query.k() > most) {
      throw new IllegalArgumentException(
          "[k] is ["
              + query.k()
              + "], allowed is at most ["
              + most
              + "] by the setting ["
              + IndexSettings.MAX_RESULT_WINDOW_SETTING.getKey()
              + "] of index ["
              + context.index().getName()
              + "]");
    }
    VectorQueries queries = new VectorQueries(context, (DenseVectorFieldType) type, query);
    return queries.empty ? null : queries;
  }

  /**
   * Whether no document has had a vector in the field yet: then the field has no dimensions, and a
   * query matches no documents. There is no direct way to ask.
   */
  private boolean hasNoVectors() {
    try {
      return query(new VectorData(new float[0]), null) instanceof MatchNoDocsQuery;
    } catch (IllegalArgumentException e) {
      return false;
    }
  }

  /**
   * Returns the queries of the vectors; each query is made when the search asks for it.
   *
   * @param aliasFilter filter of the documents that the names of the request show
   */
  VectorSearch.Queries filteredBy(AliasFilter aliasFilter) throws IOException {
    QueryFilters rewritten = Rewriteable.rewrite(query.filters(), context, true);
    AliasFilter rewrittenAlias = Rewriteable.rewrite(aliasFilter, context, true);
    List<Query> filters = new ArrayList<>();
    for (QueryBuilder filter : rewritten.distinct()) {
      filters.add(filter(filter, rewrittenAlias));
    }
    return new VectorSearch.Queries() {
      @Override
      public boolean filtered() {
        return filters.stream().anyMatch(Objects::nonNull);
      }

      @Override
      public int group(int number) {
        return rewritten.group(number);
      }

      @Override
      public Query of(int number) {
        return query(number, filters.get(rewritten.group(number)));
      }
    };
  }

  /** The score that corresponds to the minimum similarity; below all scores if there is none. */
  float leastScore() {
    if (query.similarity() == null) {
      return Float.NEGATIVE_INFINITY;
    }
    float similarity = query.similarity();
    boolean bytes = field.getElementType() == ElementType.BYTE;
    return switch (field.getSimilarity()) {
      case L2_NORM -> 1 / (1 + similarity * similarity);
      case COSINE -> (1 + similarity) / 2;
      case DOT_PRODUCT ->
          bytes
              ? 0.5f + similarity / (field.getVectorDimensions() * (1 << 15))
              : (1 + similarity) / 2;
      case MAX_INNER_PRODUCT -> similarity < 0 ? 1 / (1 - similarity) : similarity + 1;
    };
  }

  private Query filter(QueryBuilder filter, AliasFilter aliasFilter) throws IOException {
    List<QueryBuilder> builders = new ArrayList<>();
    if (filter != null) {
      builders.add(filter);
    }
    if (aliasFilter.getQueryBuilder() != null) {
      builders.add(aliasFilter.getQueryBuilder());
    }
    BooleanQuery.Builder all = new BooleanQuery.Builder();
    boolean any = false;
    for (QueryBuilder builder : builders) {
      Query part = builder.toQuery(context);
      if (part instanceof MatchAllDocsQuery == false) {
        all.add(part, BooleanClause.Occur.FILTER);
        any = true;
      }
    }
    return any ? new CachingEnableFilterQuery(all.build()) : null;
  }

  private Query query(int number, Query filter) {
    try {
      return query(vector(number), filter);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          "query vector ["
              + number
              + "] does not fit field ["
              + query.field()
              + "]: "
              + e.getMessage(),
          e);
    }
  }

  private Query query(VectorData vector, Query filter) {
    if (query.exact()) {
      return exact(vector, filter);
    }
    IndexSettings settings = context.getIndexSettings();
    // as the executor, which tries every candidate too, whatever the index says of its searches
    Query made =
        field.createKnnQuery(
            vector,
            query.k(),
            query.numCandidates(),
            null,
            null,
            filter,
            query.similarity(),
            null,
            settings.getHnswFilterHeuristic(),
            false,
            settings.isSliceEnabled(),
            context.getSliceRouting());
    return query.walk().isNone() ? made : walking(made);
  }

  private Query exact(VectorData vector, Query filter) {
    Query made = field.createExactKnnQuery(vector, null, query.similarity());
    return filter == null || made instanceof MatchNoDocsQuery
        ? made
        : new BooleanQuery.Builder()
            .add(made, BooleanClause.Occur.MUST)
            .add(filter, BooleanClause.Occur.FILTER)
            .build();
  }

  /** Returns a plain query with the walk of the batch; other queries stay as they are. */
  private Query walking(Query made) {
    VamanaSearchStrategy strategy =
        new VamanaSearchStrategy(
            query.walk().applyTo(WalkParameters.defaults(query.numCandidates())));
    if (made instanceof ESKnnFloatVectorQuery floats) {
      return new ESKnnFloatVectorQuery(
          floats.getField(),
          floats.getTargetCopy(),
          query.k(),
          query.numCandidates(),
          floats.getFilter(),
          strategy);
    }
    if (made instanceof ESKnnByteVectorQuery bytes) {
      return new ESKnnByteVectorQuery(
          bytes.getField(),
          bytes.getTargetCopy(),
          query.k(),
          query.numCandidates(),
          bytes.getFilter(),
          strategy);
    }
    return made;
  }

  private VectorData vector(int number) {
    QueryVectors vectors = query.vectors();
    if (vectors.floats() != null) {
      return new VectorData(vectors.floats()[number]);
    }
    byte[] bytes = vectors.bytes()[number];
    ElementType type = field.getElementType();
    boolean floats = type == ElementType.FLOAT || type == ElementType.BFLOAT16;
    if (floats && bytes.length == (long) field.getVectorDimensions() * Float.BYTES) {
      float[] decoded = new float[field.getVectorDimensions()];
      ByteBuffer.wrap(bytes).order(ByteOrder.BIG_ENDIAN).asFloatBuffer().get(decoded);
      return new VectorData(decoded);
    }
    return new VectorData(bytes);
  }
}
