package dev.vamana.tools.text;

import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.function.IntConsumer;

/** An encoder for tests: sentences are near when they share words. */
final class WordEncoder implements SentenceEncoder {

  private static final int DIMENSION = 64;

  private int encoded;

  @Override
  public String name() {
    return "words";
  }

  @Override
  public float[][] encode(List<String> texts, IntConsumer done) {
    float[][] vectors = new float[texts.size()][];
    for (int i = 0; i < vectors.length; i++) {
      vectors[i] = vector(texts.get(i));
      done.accept(i + 1);
    }
    encoded += vectors.length;
    return vectors;
  }

  /** Sentences encoded so far. */
  int encoded() {
    return encoded;
  }

  private static float[] vector(String text) {
    float[] sum = new float[DIMENSION];
    for (String word : text.toLowerCase(Locale.ROOT).split("\\W+")) {
      Random random = new Random(word.hashCode());
      for (int i = 0; i < DIMENSION; i++) {
        sum[i] += (float) random.nextGaussian();
      }
    }
    double norm = 0;
    for (float value : sum) {
      norm += value * value;
    }
    for (int i = 0; i < DIMENSION; i++) {
      sum[i] /= (float) Math.sqrt(norm);
    }
    return sum;
  }

  @Override
  public void close() {}
}
