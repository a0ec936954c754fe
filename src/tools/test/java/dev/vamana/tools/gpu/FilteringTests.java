package dev.vamana.tools.gpu;

import dev.vamana.tools.datasets.ElementType;
import dev.vamana.tools.datasets.Metric;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.datasets.VectorTable;
import java.util.stream.IntStream;
import org.apache.lucene.search.ScoreDoc;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.util.FixedBitSet;

public class FilteringTests extends LuceneTestCase {

  /** Scores of vectors with large components differ by less than a millionth. */
  public void testDistantVectorsAreToldApart() {
    float[][] base =
        IntStream.rangeClosed(1, 20)
            .mapToObj(i -> new float[] {1_000f * i, 0})
            .toArray(float[][]::new);
    VectorSet set =
        VectorSet.of(
            "line",
            Metric.L2,
            new VectorTable(ElementType.FLOAT32, 2, base),
            new VectorTable(ElementType.FLOAT32, 2, new float[][] {{0, 0}}));
    int nearest = 1 + random().nextInt(19);
    FixedBitSet all = new FixedBitSet(20);
    all.set(0, 20);
    Filtering filtering =
        new Filtering(new FixedBitSet[] {all}, new int[][] {IntStream.range(0, nearest).toArray()});
    ScoreDoc[] hits =
        IntStream.range(0, 20)
            .mapToObj(
                i -> new ScoreDoc(i, set.similarity().compare(set.queries().rows()[0], base[i])))
            .toArray(ScoreDoc[]::new);
    assertEquals(nearest, filtering.good(set, 0, hits));
  }
}
