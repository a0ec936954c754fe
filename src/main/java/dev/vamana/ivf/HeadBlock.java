package dev.vamana.ivf;

import java.io.IOException;

/**
 * Heads of up to {@link ListShape#BLOCK} entries of a list, and the estimates that they give. For
 * one thread.
 *
 * <p>Heads lie in the file by columns, so each step is a loop over entries that the compiler makes
 * vector instructions of.
 */
final class HeadBlock {

  // of the constant parts of an estimate, for rounding
  static final float SLACK = 1e-5f;

  private final ListShape shape;
  private final long[] columns;
  private final int[] ordinals = new int[ListShape.BLOCK];
  private final int[] products = new int[ListShape.BLOCK];
  private final float[] constants = new float[ListShape.BLOCK];
  private final float[] factors = new float[ListShape.BLOCK];
  private final float[] errors = new float[ListShape.BLOCK];
  private final float[] estimates = new float[ListShape.BLOCK];
  private final float[] bounds = new float[ListShape.BLOCK];
  private int size;

  HeadBlock(ListShape shape) {
    this.shape = shape;
    this.columns = new long[ListShape.BLOCK * shape.words()];
  }

  /**
   * Reads a block.
   *
   * @param list where the list starts in the region
   * @param places places of the list
   * @param from number of the block's first entry in the list, a multiple of {@link
   *     ListShape#BLOCK}
   * @return the number of places read
   */
  int read(InvertedLists.Reader reader, long list, int places, int from) throws IOException {
    size = Math.min(ListShape.BLOCK, places - from);
    reader.read(list + shape.numberOffset(places, from, ListShape.ORDINAL), ordinals, size);
    reader.read(list + shape.numberOffset(places, from, ListShape.CONSTANT), constants, size);
    reader.read(list + shape.numberOffset(places, from, ListShape.FACTOR), factors, size);
    reader.read(list + shape.numberOffset(places, from, ListShape.ERROR), errors, size);
    reader.read(list + shape.wordOffset(places, from, 0), columns, size * shape.words());
    return size;
  }

  /**
   * Estimates the distances of all places that were read.
   *
   * @param bits the rotated residual of the query
   * @param base distance of query and centroid, the part that all estimates share
   * @param margin times the error of an entry: how much larger its estimate may be than its
   *     distance
   */
  void estimate(QueryBits bits, float base, float margin) {
    bits.products(columns, size, size, products);
    float half = bits.sum() * 0.5f;
    float step = bits.step();
    for (int i = 0; i < size; i++) {
      estimates[i] = base + constants[i] + factors[i] * step * (products[i] - half);
    }
    float slackOfBase = SLACK * Math.abs(base);
    for (int i = 0; i < size; i++) {
      bounds[i] =
          estimates[i] - errors[i] * margin - (slackOfBase + SLACK * Math.abs(constants[i]));
    }
  }

  /** Returns the ordinal of an entry by its number in the block. */
  int ordinal(int entry) {
    return ordinals[entry];
  }

  /** Copies the bits of an entry, {@link ListShape#words()} words. */
  void bits(int entry, long[] target) {
    for (int word = 0; word < shape.words(); word++) {
      target[word] = columns[word * size + entry];
    }
  }

  /** Returns the estimated distance of an entry. */
  float estimate(int entry) {
    return estimates[entry];
  }

  /** Returns a distance that an entry's vector very probably has at least. */
  float bound(int entry) {
    return bounds[entry];
  }
}
