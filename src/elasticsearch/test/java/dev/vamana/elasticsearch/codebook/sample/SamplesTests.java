package dev.vamana.elasticsearch.codebook.sample;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertFalse;
import static org.junit.Assert.assertNull;
import static org.junit.Assert.assertThrows;
import static org.junit.Assert.assertTrue;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.search.RequestBreaker;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.breaker.CircuitBreakingException;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.VectorSimilarity;
import org.elasticsearch.rest.RestStatus;
import org.junit.Before;
import org.junit.Test;

public class SamplesTests {
  private static final SampleOptions OPTIONS = options(4, 300);

  private final Set<String> ready = new HashSet<>();

  private static SampleOptions options(int dims, int sampleSize) {
    return new SampleOptions(new VectorSpace(dims, VectorSimilarity.L2_NORM), 0, sampleSize, 1_000);
  }

  @Before
  public void classesOfTheServer() throws Exception {
    ServerClasses.ready();
  }

  private Samples samples(long memory) {
    Samples samples = new Samples(new SampleMemory(memory), ready::contains);
    samples.feed(Map.of("a", OPTIONS, "b", OPTIONS, "c", OPTIONS));
    return samples;
  }

  /** Returns how many vectors found no memory. */
  private static int offer(Samples samples, String name, int count) {
    int refused = 0;
    for (int i = 0; i < count; i++) {
      try {
        samples.wanted(name).offer(new float[4]);
      } catch (CircuitBreakingException e) {
        refused++;
      }
    }
    return refused;
  }

  private static SampleStatus status(Samples samples, String name) {
    return samples.status().stream().filter(s -> s.name().equals(name)).findFirst().orElseThrow();
  }

  @Test
  public void testMemoryBoundsAllSamplesTogether() {
    long row = SampleMemory.rowBytes(4);
    Samples samples = samples(560 * row);
    assertEquals(0, offer(samples, "a", 1_000));
    assertEquals(300, status(samples, "a").held());
    assertEquals(300 * row, samples.memory().used());
    // The rest is too small for a whole sample, but large enough for the smallest one.
    assertEquals(0, offer(samples, "b", 1_000));
    assertEquals(260, status(samples, "b").held());
    assertEquals(1_000, status(samples, "b").seen());
    assertEquals(560 * row, samples.memory().used());
    // And this is not: nothing is kept.
    assertEquals(10, offer(samples, "c", 10));
    assertEquals(0, status(samples, "c").seen());
    samples.restart("a");
    assertEquals(0, status(samples, "a").seen());
    assertEquals(260 * row, samples.memory().used());
    samples.feed(Map.of());
    assertEquals(0, samples.memory().used());
    assertEquals(List.of(), samples.status());
  }

  @Test
  public void testATrainingTakesFromTheSameMemory() {
    long row = SampleMemory.rowBytes(4);
    SampleMemory memory = new SampleMemory(600 * row);
    Sample sample = new Sample(OPTIONS, memory, 1);
    assertEquals(600, memory.fitting(1_000, 4));
    for (int i = 0; i < 300; i++) {
      sample.offer(new float[4]);
    }
    assertEquals(300, memory.fitting(1_000, 4));
    memory.take(100 * row);
    CircuitBreakingException e =
        assertThrows(CircuitBreakingException.class, () -> memory.fitting(1_000, 4));
    assertEquals(RestStatus.TOO_MANY_REQUESTS, e.status());
    assertThrows(CircuitBreakingException.class, () -> memory.take(201 * row));
    assertEquals(400 * row, memory.used());
    sample.close();
    sample.close();
    sample.offer(new float[4]);
    assertEquals(100 * row, memory.used());
  }

  @Test
  public void testTheBreakerCountsWhatIsKept() {
    long row = SampleMemory.rowBytes(4);
    CircuitBreaker breaker = RequestBreaker.withLimit(280 * row);
    Samples samples = samples(1 << 20);
    samples.memory().countBy(breaker);
    assertEquals(0, offer(samples, "a", 10));
    assertEquals(10 * row, breaker.getUsed());
    assertEquals(20, offer(samples, "a", 290));
    assertEquals(280 * row, breaker.getUsed());
    assertEquals(280, status(samples, "a").held());
    // the refusal does not outlast its reason
    breaker.setLimitAndOverhead(1_000 * row, 1);
    assertEquals(0, offer(samples, "a", 30));
    assertEquals(300, status(samples, "a").held());
    assertEquals(300 * row, breaker.getUsed());
    samples.close();
    assertEquals(0, breaker.getUsed());
    assertNull(samples.wanted("a"));
  }

  @Test
  public void testVectorsAreSampledAsTheyAreStored() {
    float[] vector = {3, 4};
    assertTrue(new VectorSpace(2, VectorSimilarity.COSINE).prepare(vector));
    assertEquals(0.6f, vector[0], 1e-7f);
    assertEquals(0.8f, vector[1], 1e-7f);
    for (VectorSimilarity similarity :
        List.of(
            VectorSimilarity.L2_NORM,
            VectorSimilarity.DOT_PRODUCT,
            VectorSimilarity.MAX_INNER_PRODUCT)) {
      float[] kept = {3, 4};
      assertTrue(new VectorSpace(2, similarity).prepare(kept));
      assertEquals(3f, kept[0], 0f);
    }
    VectorSpace cosine = new VectorSpace(2, VectorSimilarity.COSINE);
    assertFalse(cosine.prepare(new float[] {0, 0}));
    assertFalse(cosine.prepare(new float[] {Float.NaN, 1}));
    assertFalse(cosine.prepare(new float[] {Float.NEGATIVE_INFINITY, 1}));
    assertFalse(cosine.prepare(new float[] {1}));
  }
}
