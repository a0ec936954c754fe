package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.index.query.QueryRewriteContext;
import org.elasticsearch.index.query.Rewriteable;

/**
 * The distinct filters of a batch. Queries with equal filters are searched together, so that each
 * filter is evaluated only once.
 *
 * @param distinct the distinct filters; null is the entry for queries without a filter
 * @param groupOf position in {@code distinct} of each query's filter; null if all queries have the
 *     first
 */
record QueryFilters(List<QueryBuilder> distinct, int[] groupOf)
    implements Writeable, Rewriteable<QueryFilters> {

  QueryFilters {
    Objects.requireNonNull(distinct, "distinct");
  }

  /** Groups the filters of a request: none, one for all queries, or one per query. */
  static QueryFilters of(List<QueryBuilder> filters) {
    if (filters.size() <= 1) {
      List<QueryBuilder> only = new ArrayList<>();
      only.add(filters.isEmpty() ? null : filters.get(0));
      return new QueryFilters(only, null);
    }
    Map<QueryBuilder, Integer> groups = new LinkedHashMap<>();
    int[] groupOf = new int[filters.size()];
    for (int i = 0; i < groupOf.length; i++) {
      groupOf[i] = groups.computeIfAbsent(filters.get(i), filter -> groups.size());
    }
    return new QueryFilters(new ArrayList<>(groups.keySet()), groups.size() == 1 ? null : groupOf);
  }

  static QueryFilters readFrom(StreamInput in) throws IOException {
    return new QueryFilters(
        in.readCollectionAsList(from -> from.readOptionalNamedWriteable(QueryBuilder.class)),
        in.readBoolean() ? in.readVIntArray() : null);
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeCollection(distinct, StreamOutput::writeOptionalNamedWriteable);
    out.writeBoolean(groupOf != null);
    if (groupOf != null) {
      out.writeVIntArray(groupOf);
    }
  }

  /** Position in {@code distinct} of a query's filter. */
  int group(int query) {
    return groupOf == null ? 0 : groupOf[query];
  }

  // a builder with nothing to rewrite returns itself, which ends the rewriting
  @SuppressWarnings("ReferenceEquality")
  @Override
  public QueryFilters rewrite(QueryRewriteContext context) throws IOException {
    List<QueryBuilder> rewritten = new ArrayList<>(distinct.size());
    boolean changed = false;
    for (QueryBuilder filter : distinct) {
      QueryBuilder next = filter == null ? null : filter.rewrite(context);
      changed |= next != filter;
      rewritten.add(next);
    }
    return changed ? new QueryFilters(rewritten, groupOf) : this;
  }
}
