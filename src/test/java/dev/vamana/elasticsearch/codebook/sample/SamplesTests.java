package dev.vamana.elasticsearch.codebook.sample;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.codebook.sample.VectorSpace.Similarity;
import dev.vamana.elasticsearch.search.RequestBreaker;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.breaker.CircuitBreakingException;
import org.elasticsearch.rest.RestStatus;
import org.junit.Before;
import org.junit.Test;

public class SamplesTests {
  private static final SampleOptions OPTIONS = options(4, 300);

  private final Set<String> ready = new HashSet<>();

  private static SampleOptions options(int dims, int sampleSize) {
    return new SampleOptions(new VectorSpace(dims, Similarity.L2_NORM), 0, sampleSize, 1_000);
  }

  @Before
  public void classesOfTheServer() throws Exception {
    ServerClasses.ready();
  }

  private Samples samples(long memory) {
    return new Samples(new SampleMemory(memory), () -> 42, ready::contains);
  }

  private static void offer(Samples samples, String name, SampleOptions options, int count) {
    for (int i = 0; i < count; i++) {
      samples.offer(name, options, new float[options.space().dims()]);
    }
  }

  private static SampleStatus only(Samples samples) {
    List<SampleStatus> status = samples.status();
    assertEquals(1, status.size());
    return status.get(0);
  }

  @Test
  public void testMemoryBoundsAllSamplesTogether() {
    long row = SampleMemory.rowBytes(4);
    Samples samples = samples(560 * row);
    offer(samples, "a", OPTIONS, 1_000);
    assertEquals(300, only(samples).held());
    assertEquals(300 * row, samples.memory().used());
    // What is left is not enough for a whole sample, but for the smallest.
    offer(samples, "b", OPTIONS, 1_000);
    SampleStatus b = samples.status().stream().filter(s -> s.name().equals("b")).findFirst().get();
    assertEquals(260, b.capacity());
    assertEquals(260, b.held());
    assertEquals(560 * row, samples.memory().used());
    // And this is not: nothing is kept, everything counted.
    offer(samples, "c", OPTIONS, 10);
    SampleStatus c = samples.status().stream().filter(s -> s.name().equals("c")).findFirst().get();
    assertEquals(0, c.seen());
    assertEquals(10, c.missed());
    samples.drop("a");
    samples.drop("b");
    samples.drop("c");
    assertEquals(0, samples.memory().used());
    assertTrue(samples.status().isEmpty());
  }

  @Test
  public void testATrainingTakesFromTheSameMemory() {
    long row = SampleMemory.rowBytes(4);
    SampleMemory memory = new SampleMemory(600 * row);
    SampleMemory.Rows rows = memory.rows(4);
    assertEquals(600, memory.fitting(1_000, 4));
    rows.add(300);
    assertEquals(300, memory.fitting(1_000, 4));
    rows.add(100);
    CircuitBreakingException e =
        assertThrows(CircuitBreakingException.class, () -> memory.fitting(1_000, 4));
    assertEquals(RestStatus.TOO_MANY_REQUESTS, e.status());
    assertThrows(CircuitBreakingException.class, () -> rows.add(201));
    assertEquals(400 * row, memory.used());
    rows.close();
    rows.close();
    assertEquals(0, memory.used());
  }

  @Test
  public void testTheBreakerCountsWhatIsKept() {
    long row = SampleMemory.rowBytes(4);
    CircuitBreaker breaker = RequestBreaker.withLimit(280 * row);
    Samples samples = samples(1 << 20);
    samples.memory().countBy(breaker);
    offer(samples, "a", OPTIONS, 10);
    assertEquals(10 * row, breaker.getUsed());
    offer(samples, "a", OPTIONS, 290);
    assertEquals(280 * row, breaker.getUsed());
    assertEquals(280, only(samples).held());
    assertEquals(20, only(samples).missed());
    // the refusal does not outlast its reason
    breaker.setLimitAndOverhead(1_000 * row, 1);
    offer(samples, "a", OPTIONS, 30);
    assertEquals(300, only(samples).held());
    assertEquals(300 * row, breaker.getUsed());
    samples.close();
    assertEquals(0, breaker.getUsed());
    assertFalse(samples.wanted("a"));
  }

  @Test
  public void testASealedSampleStaysAsItIs() {
    Samples samples = samples(1 << 20);
    for (int i = 0; i < 500; i++) {
      samples.offer("a", OPTIONS, new float[] {i, 0, 0, 0});
    }
    List<float[]> rows = new ArrayList<>(samples.collect("a", OPTIONS, 9, 0, 100));
    offer(samples, "a", OPTIONS, 50);
    rows.addAll(samples.collect("a", OPTIONS, 9, 100, 400));
    assertEquals(300, rows.size());
    Set<Float> values = new HashSet<>();
    rows.forEach(row -> values.add(row[0]));
    assertEquals("rows twice", 300, values.size());
    assertEquals(500, only(samples).seen());
    assertEquals(50, only(samples).missed());
    samples.unseal("a");
    offer(samples, "a", OPTIONS, 50);
    assertEquals(550, only(samples).seen());
    assertTrue(samples.collect("b", OPTIONS, 9, 0, 100).isEmpty());
    assertTrue(samples.collect("a", options(4, 301), 9, 0, 100).isEmpty());
  }

  @Test
  public void testOtherOptionsAreCountedAndNotMixed() {
    Samples samples = samples(1 << 20);
    offer(samples, "a", OPTIONS, 5);
    offer(samples, "a", options(5, 300), 7);
    samples.countMissing("a", OPTIONS);
    samples.countRejected("a", OPTIONS);
    assertEquals(5, only(samples).seen());
    assertEquals(7, only(samples).conflicts());
    assertEquals(1, only(samples).missing());
    assertEquals(1, only(samples).rejected());
    samples.keepOnly(Map.of("a", Set.of(OPTIONS)));
    assertEquals(5, only(samples).seen());
    samples.keepOnly(Map.of("a", Set.of(options(5, 300))));
    assertTrue(samples.status().isEmpty());
    assertEquals(0, samples.memory().used());
  }

  @Test
  public void testNothingIsWantedOnceReady() {
    Samples samples = samples(1 << 20);
    assertTrue(samples.wanted("a"));
    ready.add("a");
    assertFalse(samples.wanted("a"));
    assertTrue(samples.wanted("b"));
  }

  @Test
  public void testRanges() {
    for (int[] wrong : new int[][] {{0, 300}, {4_097, 300}, {4, 255}, {4, (1 << 20) + 1}}) {
      assertThrows(IllegalArgumentException.class, () -> options(wrong[0], wrong[1]));
    }
    VectorSpace space = new VectorSpace(4, Similarity.COSINE);
    for (int subspaces : new int[] {-1, 5}) {
      IllegalArgumentException e =
          assertThrows(
              IllegalArgumentException.class,
              () -> new SampleOptions(space, subspaces, 300, 1_000));
      assertEquals(
          "[subspaces] must be between [0] and [4], got [" + subspaces + "]", e.getMessage());
    }
    assertThrows(IllegalArgumentException.class, () -> new SampleOptions(space, 0, 300, 255));
    assertThrows(IllegalArgumentException.class, () -> Similarity.of("COSINE"));
  }

  @Test
  public void testVectorsAreSampledAsTheyAreStored() {
    float[] vector = {3, 4};
    assertEquals(null, new VectorSpace(2, Similarity.COSINE).prepare(vector));
    assertEquals(0.6f, vector[0], 1e-7f);
    assertEquals(0.8f, vector[1], 1e-7f);
    for (Similarity similarity :
        List.of(Similarity.L2_NORM, Similarity.DOT_PRODUCT, Similarity.MAX_INNER_PRODUCT)) {
      float[] kept = {3, 4};
      assertEquals(null, new VectorSpace(2, similarity).prepare(kept));
      assertEquals(3f, kept[0], 0f);
    }
    VectorSpace cosine = new VectorSpace(2, Similarity.COSINE);
    assertTrue(cosine.prepare(new float[] {0, 0}).contains("length 0"));
    assertTrue(cosine.prepare(new float[] {Float.NaN, 1}).contains("finite"));
    assertTrue(cosine.prepare(new float[] {Float.NEGATIVE_INFINITY, 1}).contains("finite"));
    assertTrue(cosine.prepare(new float[] {1}).contains("1 components instead of 2"));
  }
}
