package dev.vamana.cuda.selftest;

import dev.vamana.graph.GraphChecks;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.RowSource;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.pq.TrainingSample;
import dev.vamana.search.CpuExecutor;
import dev.vamana.search.WalkParameters;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Which answers the CPU takes for wrong ones. */
public class SamplesTests extends LuceneTestCase {

  private static final int DIMENSION = 16;
  private static final int SIZE = 400;

  private static float[][] rows() {
    return GraphChecks.clustered(random(), SIZE, DIMENSION, 8).toArray(float[][]::new);
  }

  public void testOneOfManyAnswers() {
    Samples samples = new Samples();
    assertTrue("the first", samples.due(1));
    assertFalse(samples.due(Samples.EVERY - 1));
    assertTrue(samples.due(1));
    assertTrue("a large call", samples.due(3 * Samples.EVERY));
  }

  public void testAnswers() throws IOException {
    TinySegment segment = TinySegment.withGraph();
    int query = random().nextInt(TinySegment.QUERIES);
    WorkItem item =
        new WorkItem(
            new WorkItem.Terms(
                segment,
                TinySegment.NEIGHBORS,
                WalkParameters.exact(64),
                null,
                TinySegment.SIZE,
                Long.MAX_VALUE,
                () -> false,
                new int[0]),
            segment.query(query));
    WorkResult right = CpuExecutor.scan(item);
    for (int n = 0; n < TinySegment.NEIGHBORS; n++) {
      assertEquals(TinySegment.nearest(query) + n, right.ordinals()[n]);
    }
    assertArrayEquals(right.ordinals(), CpuExecutor.search(item).ordinals());
    assertNull(Samples.wrongAnswer(item, right));
    int rank = random().nextInt(TinySegment.NEIGHBORS);
    float[] scores = right.scores().clone();
    scores[rank] *= 1.00001f;
    assertNull(Samples.wrongAnswer(item, new WorkResult(right.ordinals(), scores, 0, true)));
    for (float wrong : new float[] {1e-6f * right.scores()[rank], 0, Float.NaN}) {
      scores[rank] = wrong;
      assertNotNull(Samples.wrongAnswer(item, new WorkResult(right.ordinals(), scores, 0, true)));
    }
    int[] ordinals = right.ordinals().clone();
    ordinals[rank] = ordinals[(rank + 1) % ordinals.length];
    assertNotNull(Samples.wrongAnswer(item, new WorkResult(ordinals, right.scores(), 0, true)));
    ordinals[rank] = TinySegment.SIZE - 1;
    assertNotNull(Samples.wrongAnswer(item, new WorkResult(ordinals, right.scores(), 0, true)));
  }

  public void testCodes() throws IOException {
    float[][] rows = rows();
    TrainingSample sample = TrainingSample.of(DIMENSION, rows);
    SubspaceLayout layout = new SubspaceLayout(DIMENSION, 4);
    PqTrainer.Options options = new PqTrainer.Options(random().nextLong(), 1, 1, 0);
    Codebook right =
        PqTrainer.train(sample, layout, CodebookId.random(), options, AbortCheck.NEVER);
    byte[] codes = new byte[SIZE * layout.count()];
    for (int i = 0; i < SIZE; i++) {
      right.encode(rows[i], codes, i * layout.count());
    }
    assertNull(Samples.wrongCode(right, RowSource.of(rows), SIZE, codes));
    assertNull(Samples.wrongCode(right, RowSource.of(rows), 1, codes));
    for (int i = 0; i < codes.length; i++) {
      codes[i] += 1;
    }
    assertNotNull(Samples.wrongCode(right, RowSource.of(rows), SIZE, codes));
  }

  public void testCentroids() throws IOException {
    float[][] rows = rows();
    float[][] centroids = Arrays.copyOf(rows, 20);
    int[] found = new int[20];
    Arrays.setAll(found, i -> i);
    float[] distances = new float[20];
    RowSource source = RowSource.of(rows);
    assertNull(Samples.wrongCentroid(centroids, source, 20, found, distances));
    distances[5] = 1e6f;
    assertNotNull(Samples.wrongCentroid(centroids, source, 20, found, distances));
    distances[5] = 0;
    for (int wrong : new int[] {-1, 20}) {
      found[5] = wrong;
      assertNotNull(Samples.wrongCentroid(centroids, source, 20, found, distances));
    }
    Arrays.setAll(found, i -> (i + 1) % 20);
    assertNotNull(Samples.wrongCentroid(centroids, source, 20, found, distances));
  }
}
