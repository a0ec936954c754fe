package dev.vamana.elasticsearch.search;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.search.TotalHits;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.SearchHits;
import org.elasticsearch.search.SearchShardTarget;

/** Combines merged hits with the fetched parts of their documents. */
final class HitsBuilder {

  /** Approximate bytes of a hit in the standard form, with its reference. */
  private static final int STANDARD_BYTES = 256;

  /** Bytes of a hit in columns: the reference to its id, its score and its index. */
  private static final int COLUMN_BYTES = 4 * Integer.BYTES;

  /** Approximate bytes of a query without its hits. */
  private static final int QUERY_BYTES = 128;

  private final Hits merged;
  private final List<Fetched> shards;

  /**
   * The fetched documents of one shard.
   *
   * @param target the copy that was searched
   * @param order the documents, in the order of {@code docs}
   * @param docs the parts read of them
   */
  record Fetched(SearchShardTarget target, DistinctDocs order, FetchedDocs docs) {
    int position(int doc) {
      return order.position(doc);
    }
  }

  /**
   * Makes a builder.
   *
   * @param shards one entry per shard; null for failed shards, whose hits are left out
   */
  HitsBuilder(Hits merged, List<Fetched> shards) {
    this.merged = merged;
    this.shards = shards;
  }

  /** Approximate bytes of the hits, without the fetched parts of their documents. */
  long ramBytesUsed(boolean columnar) {
    long hits = merged.docs().length;
    long copied = shards.contains(null) ? hits : 0;
    return columnar
        ? (hits + copied) * COLUMN_BYTES + (long) merged.ends().length * Integer.BYTES
        : hits * STANDARD_BYTES + (long) merged.ends().length * QUERY_BYTES;
  }

  /** Builds the hits in the form of the standard search. */
  StandardHits standard() {
    List<SearchHits> responses = new ArrayList<>(merged.ends().length);
    List<SearchHit> hits = new ArrayList<>();
    for (int query = 0; query < merged.ends().length; query++) {
      hits.clear();
      for (int i = merged.start(query); i < merged.ends()[query]; i++) {
        Fetched shard = shards.get(merged.shards()[i]);
        if (shard != null) {
          hits.add(hit(shard, i));
        }
      }
      float best = hits.isEmpty() ? Float.NaN : hits.get(0).getScore();
      TotalHits total = new TotalHits(hits.size(), TotalHits.Relation.EQUAL_TO);
      responses.add(new SearchHits(hits.toArray(SearchHit[]::new), total, best));
    }
    return new StandardHits(responses);
  }

  private SearchHit hit(Fetched shard, int i) {
    int doc = merged.docs()[i];
    int position = shard.position(doc);
    FetchedDocs.Content content = shard.docs().contents()[position];
    SearchHit hit = SearchHit.unpooled(doc, shard.docs().ids()[position]);
    hit.score(merged.scores()[i]);
    hit.shard(shard.target());
    hit.sourceRef(content.source());
    hit.addDocumentFields(content.fields(), content.metadata());
    return hit;
  }

  /** Builds the hits as columns. */
  ColumnarHits columnar() {
    String[] indices =
        shards.stream()
            .map(shard -> shard == null ? null : shard.target().getIndex())
            .filter(index -> index != null)
            .distinct()
            .toArray(String[]::new);
    List<String> names = Arrays.asList(indices);
    int[] indexOfShard =
        shards.stream()
            .mapToInt(shard -> shard == null ? -1 : names.indexOf(shard.target().getIndex()))
            .toArray();
    int[] indexOf = indices.length > 1 ? new int[merged.docs().length] : null;
    int[] ends = new int[merged.ends().length];
    String[] ids = new String[merged.docs().length];
    float[] scores = new float[ids.length];
    int count = 0;
    for (int query = 0; query < ends.length; query++) {
      for (int i = merged.start(query); i < merged.ends()[query]; i++) {
        Fetched shard = shards.get(merged.shards()[i]);
        if (shard == null) {
          continue;
        }
        ids[count] = shard.docs().ids()[shard.position(merged.docs()[i])];
        scores[count] = merged.scores()[i];
        if (indexOf != null) {
          indexOf[count] = indexOfShard[merged.shards()[i]];
        }
        count++;
      }
      ends[query] = count;
    }
    boolean all = count == ids.length;
    return new ColumnarHits(
        ends,
        all ? ids : Arrays.copyOf(ids, count),
        all ? scores : Arrays.copyOf(scores, count),
        indexOf == null ? null : indices,
        all || indexOf == null ? indexOf : Arrays.copyOf(indexOf, count));
  }
}
