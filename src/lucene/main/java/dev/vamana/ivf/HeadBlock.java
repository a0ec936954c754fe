package dev.vamana.ivf;

import dev.vamana.pq.Codebook;
import java.io.IOException;
import java.util.Arrays;

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
  private final long[] column = new long[ListShape.BLOCK];
  private final int[] ordinals = new int[ListShape.BLOCK];
  private final int[] products = new int[ListShape.BLOCK];
  private final float[] constants = new float[ListShape.BLOCK];
  private final float[] factors = new float[ListShape.BLOCK];
  private final float[] errors = new float[ListShape.BLOCK];
  private final float[] estimates = new float[ListShape.BLOCK];
  private final float[] bounds = new float[ListShape.BLOCK];
  private final float[] sums = new float[ListShape.BLOCK];
  private int size;
  private InvertedLists.Reader reader;
  private long columns;

  HeadBlock(ListShape shape) {
    this.shape = shape;
  }

  /**
   * Reads the numbers of a block. Its bits are read when they are asked for.
   *
   * @param lists reads the lists until the next block is read
   * @param list where the list starts in the region
   * @param places places of the list
   * @param from number of the block's first entry in the list, a multiple of {@link
   *     ListShape#BLOCK}
   * @return the number of places read
   */
  int read(InvertedLists.Reader lists, long list, int places, int from) throws IOException {
    reader = lists;
    size = Math.min(ListShape.BLOCK, places - from);
    lists.read(list + shape.numberOffset(places, from, ListShape.ORDINAL), ordinals, size);
    lists.read(list + shape.numberOffset(places, from, ListShape.CONSTANT), constants, size);
    lists.read(list + shape.numberOffset(places, from, ListShape.FACTOR), factors, size);
    lists.read(list + shape.numberOffset(places, from, ListShape.ERROR), errors, size);
    columns = list + shape.wordOffset(places, from, 0);
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
  void estimate(QueryBits bits, float base, float margin) throws IOException {
    Arrays.fill(products, 0, size, 0);
    for (int word = 0; word < shape.words(); word++) {
      reader.read(wordOffset(word, 0), column, size);
      bits.addProducts(column, size, word, products);
    }
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

  /**
   * Estimates the distances of all places that were read, whose words are bytes of product
   * quantization codes.
   *
   * @param table negated inner products of the query, 256 for each subspace
   * @param base distance of query and centroid, the part that all estimates share
   * @param margin times the error of an entry: how much larger its estimate may be than its
   *     distance
   */
  void estimate(float[] table, float base, float margin) throws IOException {
    Arrays.fill(sums, 0, size, 0);
    int subspaces = shape.subspaces();
    for (int word = 0; word < shape.words(); word++) {
      int first = word * Long.BYTES;
      reader.read(wordOffset(word, 0), column, size);
      if (first + Long.BYTES <= subspaces) {
        addEight(table, first * Codebook.CENTROIDS);
      } else {
        addSome(table, first, subspaces - first);
      }
    }
    float slackOfBase = SLACK * Math.abs(base);
    for (int i = 0; i < size; i++) {
      float product = factors[i] * sums[i];
      estimates[i] = base + constants[i] - product;
      float slack = slackOfBase + SLACK * (Math.abs(constants[i]) + Math.abs(product));
      bounds[i] = estimates[i] - errors[i] * margin - slack;
    }
  }

  private void addEight(float[] table, int first) {
    for (int i = 0; i < size; i++) {
      long code = column[i];
      float even = table[first + (int) (code & 0xFF)];
      float odd = table[first + 0x100 + (int) (code >>> 8 & 0xFF)];
      even += table[first + 0x200 + (int) (code >>> 16 & 0xFF)];
      odd += table[first + 0x300 + (int) (code >>> 24 & 0xFF)];
      even += table[first + 0x400 + (int) (code >>> 32 & 0xFF)];
      odd += table[first + 0x500 + (int) (code >>> 40 & 0xFF)];
      even += table[first + 0x600 + (int) (code >>> 48 & 0xFF)];
      odd += table[first + 0x700 + (int) (code >>> 56)];
      sums[i] += even + odd;
    }
  }

  private void addSome(float[] table, int first, int subspaces) {
    for (int i = 0; i < size; i++) {
      long code = column[i];
      float sum = 0;
      for (int s = 0; s < subspaces; s++) {
        sum += table[(first + s) * Codebook.CENTROIDS + (int) (code & 0xFF)];
        code >>>= Byte.SIZE;
      }
      sums[i] += sum;
    }
  }

  /** Returns the ordinal of an entry by its number in the block. */
  int ordinal(int entry) {
    return ordinals[entry];
  }

  /** Returns the factor of an entry. */
  float factor(int entry) {
    return factors[entry];
  }

  /** Returns the error of an entry. */
  float error(int entry) {
    return errors[entry];
  }

  /** Copies the bits of an entry, {@link ListShape#words()} words. */
  void bits(int entry, long[] target) throws IOException {
    for (int word = 0; word < shape.words(); word++) {
      target[word] = reader.word(wordOffset(word, entry));
    }
  }

  private long wordOffset(int word, int entry) {
    return columns + (long) (word * size + entry) * Long.BYTES;
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
