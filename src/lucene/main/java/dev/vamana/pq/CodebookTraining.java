package dev.vamana.pq;

import java.util.Objects;

/**
 * The origin of a {@link SharedCodebook}.
 *
 * @param vectors number of vectors from which the sample was drawn, at least {@code sampleSize}
 * @param sampleSize number of vectors trained on, 0 or more
 * @param quantizationError mean squared error over the sample, in the squared unit of the vectors
 *     ({@link Codebook#quantizationError}); at least 0 and finite
 * @param trainedFrom human-readable source of the vectors; at most {@value #MAX_SOURCE_LENGTH}
 *     UTF-16 units
 */
public record CodebookTraining(
    long vectors, int sampleSize, double quantizationError, String trainedFrom) {

  /** The longest allowed {@link #trainedFrom()}. */
  public static final int MAX_SOURCE_LENGTH = 1_024;

  /** Checks the ranges. Throws IllegalArgumentException that names the value out of range. */
  public CodebookTraining {
    Objects.requireNonNull(trainedFrom, "trainedFrom");
    if (sampleSize < 0) {
      throw new IllegalArgumentException("sample size must be at least 0, got " + sampleSize);
    }
    if (vectors < sampleSize) {
      throw new IllegalArgumentException(
          "vectors must be at least the sample size " + sampleSize + ", got " + vectors);
    }
    if (!(quantizationError >= 0 && quantizationError <= Double.MAX_VALUE)) {
      throw new IllegalArgumentException(
          "quantization error must be finite and at least 0, got " + quantizationError);
    }
    if (trainedFrom.length() > MAX_SOURCE_LENGTH) {
      throw new IllegalArgumentException(
          "trained from must have at most "
              + MAX_SOURCE_LENGTH
              + " characters, got "
              + trainedFrom.length());
    }
  }
}
