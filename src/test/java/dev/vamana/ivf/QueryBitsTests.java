package dev.vamana.ivf;

import org.apache.lucene.tests.util.LuceneTestCase;

/** The planes of a query hold its rounded numbers. */
public class QueryBitsTests extends LuceneTestCase {

  public void testProductsOfBits() {
    int words = 1 + random().nextInt(8);
    for (int planes : new int[] {4, 8}) {
      float[] residual = new float[words * 64];
      float largest = 0;
      for (int d = 0; d < residual.length; d++) {
        residual[d] = (float) random().nextGaussian();
        largest = Math.max(largest, Math.abs(residual[d]));
      }
      QueryBits bits = new QueryBits(residual.length, planes);
      bits.set(residual);
      assertEquals(largest / ((1 << planes - 1) - 1), bits.step(), 1e-6);
      long[] code = new long[words + 1];
      int sum = 0;
      int product = 0;
      for (int word = 0; word < words; word++) {
        code[word + 1] = random().nextLong();
      }
      for (int d = 0; d < residual.length; d++) {
        int number = Math.round(residual[d] / bits.step());
        sum += number;
        product += (code[d / 64 + 1] >>> d & 1) == 1 ? number : 0;
      }
      // a number half way between two may be rounded either way
      assertEquals(sum, bits.sum(), 1);
      assertEquals(product, bits.product(code, 1, words), 1);
    }
  }

  /** A call for many vectors gives the same products as a call for each vector. */
  public void testColumns() {
    int words = 1 + random().nextInt(8);
    int count = 1 + random().nextInt(300);
    int stride = count + random().nextInt(10);
    float[] residual = new float[words * 64];
    for (int d = 0; d < residual.length; d++) {
      residual[d] = (float) random().nextGaussian();
    }
    QueryBits bits = new QueryBits(residual.length, 4);
    bits.set(residual);
    long[] rows = new long[count * words];
    long[] columns = new long[stride * words];
    for (int i = 0; i < count; i++) {
      for (int word = 0; word < words; word++) {
        rows[i * words + word] = random().nextLong();
        columns[word * stride + i] = rows[i * words + word];
      }
    }
    int[] products = new int[count];
    bits.products(columns, stride, count, products);
    for (int i = 0; i < count; i++) {
      assertEquals(bits.product(rows, i * words, words), products[i]);
    }
  }

  public void testZero() {
    QueryBits bits = new QueryBits(64, 4);
    bits.set(new float[64]);
    assertEquals(0, bits.step(), 0);
    assertEquals(0, bits.product(new long[] {-1L}, 0, 1));
  }
}
