package dev.vamana.search;

import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.IndexReader;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.LeafReader;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.QueryTimeout;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.Scorer;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TotalHits;
import org.apache.lucene.search.Weight;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.VectorUtil;

/**
 * Finds the nearest neighbours of many query vectors at once, for instance for an evaluation or a
 * recommendation job.
 *
 * <p>Queries over all segments go to the executor together. On one segment the hits equal the hits
 * of single {@code KnnFloatVectorQuery}s with the same walk; on several, each segment is searched
 * for the full k with a beam at least as wide as theirs. A large batch becomes several calls, each
 * of some queries over all segments, so that several devices share each call. Segments of other
 * formats are searched one query at a time.
 */
public final class BatchedKnn {

  /**
   * Limit of the memory for accepted documents of a call's parts; when it is reached, the parts so
   * far are searched.
   */
  private static final long MAX_ACCEPTED_BYTES = 64L << 20;

  /** Most bytes of the segments' hits before they are merged. */
  private static final long MAX_HELD_BYTES = 64L << 20;

  /**
   * Bytes of a hit: its ordinal and score, its ScoreDoc, and the references in the segment's and
   * the merged list.
   */
  private static final int HIT_BYTES = 2 * Integer.BYTES + 24 + 2 * 4;

  /** Approximate bytes of a work item, its result and its list of hits without the hits. */
  private static final int ITEM_BYTES = 300;

  /** Standard deviations that Lucene adds to a segment's expected share of the hits. */
  private static final double LUCENE_DEVIATIONS = 16;

  private final IndexSearcher searcher;
  private final SearchExecutor executor;
  private final boolean installed;

  /**
   * Makes an instance that searches with the installed executor, or on the calling thread if none
   * is installed.
   *
   * @param searcher searcher whose reader's live documents and fields are respected, also of
   *     wrapped readers; its timeout ends the search with the hits found so far
   */
  public BatchedKnn(IndexSearcher searcher) {
    SearchExecutor current = ExecutorRegistry.current();
    this.searcher = searcher;
    this.installed = current != null;
    this.executor = installed ? current : new CpuExecutor(Workers.callingThread());
  }

  /** Makes an instance that searches with a given executor, which the caller closes. */
  public BatchedKnn(IndexSearcher searcher, SearchExecutor executor) {
    this.searcher = searcher;
    this.executor = executor;
    this.installed = true;
  }

  /**
   * Returns the k nearest documents of each query.
   *
   * @param field a field of float vectors
   * @param queries query vectors of the field's dimension
   * @param k most hits of a query, at least 1
   * @param filter documents that may be hits, or null for all
   * @return one TopDocs per query, in order
   * @throws IllegalArgumentException if k, a dimension or the field's encoding does not fit, or a
   *     component is not finite
   */
  public TopDocs[] search(String field, float[][] queries, int k, Query filter) throws IOException {
    return search(
        field,
        Arrays.stream(queries).map(QueryVector::of).toList(),
        executor.defaultWalk(k),
        k,
        filter);
  }

  /** As {@link #search(String, float[][], int, Query)}, for a field of byte vectors. */
  public TopDocs[] search(String field, byte[][] queries, int k, Query filter) throws IOException {
    return search(
        field,
        Arrays.stream(queries).map(QueryVector::of).toList(),
        executor.defaultWalk(k),
        k,
        filter);
  }

  /**
   * Returns the k nearest documents of each query.
   *
   * @param walk how segments with a graph are walked
   */
  public TopDocs[] search(
      String field, List<QueryVector> queries, WalkParameters walk, int k, Query filter)
      throws IOException {
    return search(field, List.of(new Part(queries, filter)), walk, k).get(0);
  }

  /**
   * Queries with the same filter.
   *
   * @param queries query vectors of the field's dimension
   * @param filter documents that may be hits, or null for all
   */
  public record Part(List<QueryVector> queries, Query filter) {}

  /**
   * Returns the k nearest documents of each query of several parts, which go to the executor
   * together.
   *
   * @param walk how segments with a graph are walked
   * @return one array per part, in order, with one TopDocs per query
   */
  public List<TopDocs[]> search(String field, List<Part> parts, WalkParameters walk, int k)
      throws IOException {
    if (k < 1) {
      throw new IllegalArgumentException("k must be at least 1, got " + k);
    }
    long mostQueries = Math.max(1, MAX_HELD_BYTES / heldBytes(searcher.getIndexReader(), k));
    List<TopDocs[]> found = new ArrayList<>();
    KnnBatch batch = new KnnBatch(this::run, this::repeated, k);
    long acceptedBytes = 0;
    for (Part part : parts) {
      TopDocs[] hits = new TopDocs[part.queries().size()];
      found.add(hits);
      if (hits.length == 0) {
        continue;
      }
      for (QueryVector query : part.queries()) {
        if (query.floats() != null) {
          VectorUtil.checkFinite(query.floats());
        }
      }
      List<KnnBatch.Leaf> leaves = leaves(field, part, walk, k);
      for (int from = 0; from < hits.length; ) {
        int to = Math.min(hits.length, from + batch.room(leaves.size(), mostQueries));
        if (to > from) {
          batch.add(leaves, part.queries(), hits, from, to);
        }
        from = to;
        acceptedBytes += from == hits.length ? acceptedBytes(leaves) : 0;
        if (from < hits.length || acceptedBytes > MAX_ACCEPTED_BYTES) {
          batch.finish();
          acceptedBytes = 0;
        }
      }
    }
    batch.finish();
    return found;
  }

  /**
   * Returns the approximate bytes of a query, without its vector, from the search to the merge of
   * its hits. A call searches as many queries together as fit into 64 MB, and at least one.
   *
   * @param reader reader of the segments that are searched
   * @param k hits of each segment
   */
  public static long heldBytes(IndexReader reader, int k) {
    long bytes = ITEM_BYTES;
    for (LeafReaderContext leaf : reader.leaves()) {
      bytes += ITEM_BYTES + (long) HIT_BYTES * Math.min(k, leaf.reader().maxDoc());
    }
    return bytes;
  }

  private List<WorkResult> run(List<WorkItem> items) throws IOException {
    if (installed == false) {
      ExecutorRegistry.cpuSearches().add(CpuSearches.Reason.NO_EXECUTOR, items.size());
    }
    return executor.search(items);
  }

  /** Counts an item that an executor has answered, and the CPU answers again. */
  private void repeated() {
    if (installed) {
      ExecutorRegistry.cpuSearches().add(CpuSearches.Reason.REPEATED, 1);
    }
  }

  /**
   * Returns the memory of the accepted ordinals of a part's items. Items of a segment share them.
   */
  private static long acceptedBytes(List<KnnBatch.Leaf> leaves) {
    Set<Bits> distinct = Collections.newSetFromMap(new IdentityHashMap<>());
    for (KnnBatch.Leaf leaf : leaves) {
      if (leaf instanceof KnnBatch.OwnLeaf own && own.terms().acceptedOrdinals() != null) {
        distinct.add(own.terms().acceptedOrdinals());
      }
    }
    return distinct.stream().mapToLong(accepted -> accepted.length() / Byte.SIZE).sum();
  }

  private Weight weight(Query filter) throws IOException {
    return filter == null
        ? null
        : searcher.createWeight(searcher.rewrite(filter), ScoreMode.COMPLETE_NO_SCORES, 1f);
  }

  /** Returns the segments that have vectors of the field, with the documents that may be hits. */
  private List<KnnBatch.Leaf> leaves(String field, Part part, WalkParameters walk, int k)
      throws IOException {
    Weight weight = weight(part.filter());
    List<KnnBatch.Leaf> leaves = new ArrayList<>();
    for (LeafReaderContext context : searcher.getIndexReader().leaves()) {
      FieldInfo info = context.reader().getFieldInfos().fieldInfo(field);
      if (info == null || info.hasVectorValues() == false) {
        continue;
      }
      checkQueries(info, part.queries());
      SegmentView view = SegmentViews.of(context.reader(), field);
      if (view != null && view.size() == 0) {
        // a merge keeps the field of vectors that are all deleted
        continue;
      }
      AcceptDocs acceptDocs = acceptDocs(context, weight);
      int beam = Math.max(Math.max(k, segmentBeam(context, k)), walk.beamWidth());
      leaves.add(
          view == null
              ? otherLeaf(context, field, beam, acceptDocs)
              : ownLeaf(context, view, walk.withBeamWidth(beam), k, weight != null, acceptDocs));
    }
    return leaves;
  }

  private static void checkQueries(FieldInfo info, List<QueryVector> queries) {
    for (QueryVector query : queries) {
      if (query.encoding() != info.getVectorEncoding()) {
        throw new IllegalArgumentException(
            "field "
                + info.name
                + " holds "
                + info.getVectorEncoding()
                + " vectors, the query is "
                + query.encoding());
      }
      if (query.dimension() != info.getVectorDimension()) {
        throw new IllegalArgumentException(
            "field "
                + info.name
                + " has dimension "
                + info.getVectorDimension()
                + ", the query has "
                + query.dimension());
      }
    }
  }

  /** Uses the live documents of the outer reader, which may hide documents of the segment. */
  private static AcceptDocs acceptDocs(LeafReaderContext context, Weight weight)
      throws IOException {
    LeafReader reader = context.reader();
    if (weight == null) {
      return AcceptDocs.fromLiveDocs(reader.getLiveDocs(), reader.maxDoc());
    }
    return AcceptDocs.fromIteratorSupplier(
        () -> {
          Scorer scorer = weight.scorer(context);
          return scorer == null ? DocIdSetIterator.empty() : scorer.iterator();
        },
        reader.getLiveDocs(),
        reader.maxDoc());
  }

  /**
   * Returns the beam width that Lucene's own queries would use on one of several segments: the
   * expected share of the hits plus some standard deviations. For small k this is more than k.
   */
  private int segmentBeam(LeafReaderContext context, int k) {
    double share = context.reader().maxDoc() / (double) searcher.getIndexReader().maxDoc();
    double expected = k * share;
    return (int) (expected + LUCENE_DEVIATIONS * Math.sqrt(expected * (1 - share)));
  }

  private BooleanSupplier cancelled() {
    QueryTimeout timeout = searcher.getTimeout();
    return timeout == null ? () -> false : timeout::shouldExit;
  }

  private KnnBatch.Leaf otherLeaf(
      LeafReaderContext context, String field, int k, AcceptDocs acceptDocs) {
    return new KnnBatch.OtherLeaf(
        context.docBase,
        query -> {
          KnnCollector collector =
              new CancellableCollector(
                  Math.min(k, context.reader().maxDoc()), Integer.MAX_VALUE, cancelled());
          if (query.floats() != null) {
            context.reader().searchNearestVectors(field, query.floats(), collector, acceptDocs);
          } else {
            context.reader().searchNearestVectors(field, query.bytes(), collector, acceptDocs);
          }
          return result(collector.topDocs());
        });
  }

  private static WorkResult result(TopDocs hits) {
    int[] docs = new int[hits.scoreDocs.length];
    float[] scores = new float[docs.length];
    for (int i = 0; i < docs.length; i++) {
      docs[i] = hits.scoreDocs[i].doc;
      scores[i] = hits.scoreDocs[i].score;
    }
    boolean complete = hits.totalHits.relation() == TotalHits.Relation.EQUAL_TO;
    return new WorkResult(docs, scores, hits.totalHits.value(), complete);
  }

  private KnnBatch.Leaf ownLeaf(
      LeafReaderContext context,
      SegmentView view,
      WalkParameters walk,
      int k,
      boolean filtered,
      AcceptDocs acceptDocs)
      throws IOException {
    KnnVectorValues vectors = view.vectors();
    Bits acceptedDocs = acceptDocs.bits();
    AcceptedOrdinals.Copy copy =
        view.acceptedOrdinals().of(acceptedDocs, vectors.getAcceptOrds(acceptedDocs), view.size());
    int accepted = copy == null ? view.size() : copy.count();
    // Lucene's queries set this limit too: a walk that computes more distances should be a scan
    long visitLimit = filtered ? accepted + 1L : Long.MAX_VALUE;
    return new KnnBatch.OwnLeaf(
        context.docBase,
        vectors::ordToDoc,
        new WorkItem.Terms(
            view,
            k,
            walk,
            copy == null ? null : copy.bits(),
            accepted,
            visitLimit,
            cancelled(),
            new int[0]));
  }
}
