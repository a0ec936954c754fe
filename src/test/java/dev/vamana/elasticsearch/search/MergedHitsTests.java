package dev.vamana.elasticsearch.search;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TotalHits;
import org.junit.Test;

/** Hits of shards are merged as Lucene merges them. */
public class MergedHitsTests {
  @Test
  public void testRandomHits() {
    Random random = new Random(3);
    for (int round = 0; round < 200; round++) {
      int shards = 1 + random.nextInt(12);
      int queries = 1 + random.nextInt(5);
      int k = 1 + random.nextInt(6);
      ScoreDoc[][][] found = new ScoreDoc[shards][queries][];
      List<ShardHits> hits = new ArrayList<>();
      for (int shard = 0; shard < shards; shard++) {
        for (int query = 0; query < queries; query++) {
          found[shard][query] = hits(random, random.nextInt(k + 1));
        }
        hits.add(random.nextInt(5) == 0 ? null : built(random, found[shard], k));
      }
      assertMerged(hits, found, queries, k);
    }
  }

  /** Builds the hits of a shard; its queries end in random order. */
  private static ShardHits built(Random random, ScoreDoc[][] found, int k) {
    ShardHits.Builder builder = new ShardHits.Builder(found.length, k);
    List<Integer> order = new ArrayList<>(IntStream.range(0, found.length).boxed().toList());
    Collections.shuffle(order, random);
    order.forEach(query -> builder.add(query, found[query]));
    return builder.build();
  }

  /** Best first, with few different scores, so that there are ties. */
  private static ScoreDoc[] hits(Random random, int count) {
    ScoreDoc[] hits = new ScoreDoc[count];
    float score = 5;
    int doc = 0;
    for (int i = 0; i < count; i++) {
      if (random.nextBoolean()) {
        score--;
        doc = random.nextInt(3);
      }
      doc += 1 + random.nextInt(3);
      hits[i] = new ScoreDoc(doc, score);
    }
    return hits;
  }

  private static void assertMerged(List<ShardHits> hits, ScoreDoc[][][] found, int queries, int k) {
    MergedHits merged = MergedHits.of(hits, queries, k, () -> {});
    for (int query = 0; query < queries; query++) {
      TopDocs[] perShard = new TopDocs[found.length];
      for (int shard = 0; shard < found.length; shard++) {
        ScoreDoc[] own = hits.get(shard) == null ? new ScoreDoc[0] : found[shard][query];
        ScoreDoc[] copies = new ScoreDoc[own.length];
        for (int i = 0; i < own.length; i++) {
          copies[i] = new ScoreDoc(own[i].doc, own[i].score, shard);
        }
        perShard[shard] =
            new TopDocs(new TotalHits(copies.length, TotalHits.Relation.EQUAL_TO), copies);
      }
      ScoreDoc[] expected = TopDocs.merge(k, perShard).scoreDocs;
      assertEquals(expected.length, merged.ends()[query] - merged.start(query));
      for (int i = 0; i < expected.length; i++) {
        int at = merged.start(query) + i;
        assertEquals(expected[i].shardIndex, merged.shards()[at]);
        assertEquals(expected[i].doc, merged.docs()[at]);
        assertEquals(expected[i].score, merged.scores()[at], 0);
      }
    }
  }

  @Test
  public void testDocumentsOfAShard() {
    MergedHits merged =
        new MergedHits(
            new int[] {2, 5},
            new int[] {0, 1, 0, 0, 1},
            new int[] {9, 4, 2, 9, 1},
            new float[] {5, 4, 3, 2, 1});
    List<DistinctDocs> docs = merged.distinctDocs(3);
    assertArrayEquals(new int[] {2, 9}, docs.get(0).docs());
    assertArrayEquals(new int[] {1, 4}, docs.get(1).docs());
    assertArrayEquals(new int[0], docs.get(2).docs());
  }

  /** Such as by a cancelled task. */
  @Test
  public void testEndedByTheCheck() {
    ShardHits hits = new ShardHits(new int[] {1, 2}, new int[] {5, 6}, new float[] {1, 1});
    int[] checks = new int[1];
    assertThrows(
        IllegalStateException.class,
        () ->
            MergedHits.of(
                List.of(hits),
                2,
                1,
                () -> {
                  if (++checks[0] == 2) {
                    throw new IllegalStateException();
                  }
                }));
  }
}
