package dev.vamana.pq;

import com.carrotsearch.randomizedtesting.generators.RandomNumbers;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Compares the nearest centroids with those that a plain loop finds. */
public class NearestCentroidsTests extends LuceneTestCase {

  public void testAgainstPlainLoop() {
    for (int round = 0; round < 20; round++) {
      int dims = RandomNumbers.randomIntBetween(random(), 1, 70);
      int count = RandomNumbers.randomIntBetween(random(), 1, random().nextBoolean() ? 20 : 700);
      float[][] centroids = new float[count][];
      for (int c = 0; c < count; c++) {
        // some of them twice: the first is found
        centroids[c] =
            c > 0 && random().nextInt(4) == 0 ? centroids[random().nextInt(c)] : vector(dims);
      }
      NearestCentroids.Finder finder = new NearestCentroids(centroids).finder();
      for (int query = 0; query < 5; query++) {
        int rows = RandomNumbers.randomIntBetween(random(), 1, NearestCentroids.ROWS);
        for (int i = 0; i < rows; i++) {
          float[] vector =
              random().nextBoolean() ? vector(dims) : centroids[random().nextInt(count)];
          System.arraycopy(vector, 0, finder.row(i), 0, dims);
        }
        finder.find(rows);
        for (int i = 0; i < rows; i++) {
          assertNearest(centroids, finder.row(i), finder.nearest(i), finder.distance(i));
        }
      }
    }
  }

  private static float[] vector(int dims) {
    float[] vector = new float[dims];
    for (int d = 0; d < dims; d++) {
      vector[d] = random().nextFloat() * 100 - 30;
    }
    return vector;
  }

  private static void assertNearest(
      float[][] centroids, float[] vector, int nearest, float distance) {
    int expected = -1;
    float least = Float.POSITIVE_INFINITY;
    for (int c = 0; c < centroids.length; c++) {
      float squares = 0;
      for (int d = 0; d < vector.length; d++) {
        float difference = vector[d] - centroids[c][d];
        squares += difference * difference;
      }
      if (squares < least) {
        least = squares;
        expected = c;
      }
    }
    assertEquals(expected, nearest);
    assertEquals(least, distance, 0);
  }
}
