package dev.vamana.elasticsearch.search;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import dev.vamana.elasticsearch.ServerClasses;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.search.TopDocs;
import org.apache.lucene.search.TotalHits;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.junit.BeforeClass;
import org.junit.Test;

/** Hits of shards are merged as Lucene merges them. */
public class HitsTests {
  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  @Test
  public void testRandomHits() {
    Random random = new Random(3);
    for (int round = 0; round < 200; round++) {
      int shards = 1 + random.nextInt(12);
      int queries = 1 + random.nextInt(5);
      int k = 1 + random.nextInt(6);
      ScoreDoc[][][] found = new ScoreDoc[shards][queries][];
      List<Hits> hits = new ArrayList<>();
      for (int shard = 0; shard < shards; shard++) {
        for (int query = 0; query < queries; query++) {
          found[shard][query] = hits(random, random.nextInt(k + 1));
        }
        hits.add(random.nextInt(5) == 0 ? null : built(random, shard, found[shard], k));
      }
      assertMerged(random, hits, found, queries, k);
    }
  }

  /** Builds the hits of a shard; its queries end in random order. */
  private static Hits built(Random random, int shard, ScoreDoc[][] found, int k) {
    Hits.Builder builder = new Hits.Builder(shard, found.length, k);
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

  /** Adds the hits of shards in random order, some of them merged before. */
  private static Hits merged(Random random, List<Hits> hits, int queries, int k) {
    CircuitBreaker breaker = RequestBreaker.withLimit(Long.MAX_VALUE);
    BreakerCharge charge = new BreakerCharge(breaker);
    List<AtomicReference<Hits>> nodes = new ArrayList<>();
    for (int node = 0; node < 3; node++) {
      nodes.add(new AtomicReference<>());
    }
    List<Hits> order = new ArrayList<>(hits);
    Collections.shuffle(order, random);
    for (Hits found : order) {
      if (found != null) {
        charge.add(found.ramBytesUsed());
        Hits.add(nodes.get(random.nextInt(3)), found, k, charge, () -> {});
      }
    }
    AtomicReference<Hits> merged = new AtomicReference<>();
    for (AtomicReference<Hits> node : nodes) {
      if (node.get() != null) {
        Hits.add(merged, node.get(), k, charge, () -> {});
      }
    }
    assertEquals(merged.get() == null ? 0 : merged.get().ramBytesUsed(), breaker.getUsed());
    return merged.get() == null ? Hits.none(queries) : merged.get();
  }

  private static void assertMerged(
      Random random, List<Hits> hits, ScoreDoc[][][] found, int queries, int k) {
    Hits merged = merged(random, hits, queries, k);
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

  /** Such as by a cancelled task. */
  @Test
  public void testEndedByTheCheck() {
    Hits hits = new Hits(new int[] {1, 2}, new int[] {0, 0}, new int[] {5, 6}, new float[] {1, 1});
    int[] checks = new int[1];
    assertThrows(
        IllegalStateException.class,
        () ->
            Hits.add(
                new AtomicReference<>(hits),
                hits,
                1,
                new BreakerCharge(RequestBreaker.withLimit(Long.MAX_VALUE)),
                () -> {
                  if (++checks[0] == 2) {
                    throw new IllegalStateException();
                  }
                }));
  }
}
