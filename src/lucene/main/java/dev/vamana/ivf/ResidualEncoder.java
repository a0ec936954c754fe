package dev.vamana.ivf;

import dev.vamana.pq.Codebook;
import dev.vamana.pq.PqEncoder;
import java.nio.ByteBuffer;
import java.util.Arrays;

/**
 * Makes product quantization codes of residuals, for one thread.
 *
 * <p>Let o be the rotated residual of a vector of the list with centroid c, y what its code decodes
 * to, and q a rotated query. {@code <o, q - c>} is estimated by {@code f <y, q - c>}, where {@code
 * f = |o|^2 / <o, y>} as for {@link CodeEncoder}: so the part of {@code q - c} along o, which is
 * large for a vector's neighbours, adds nothing to the error. The error is the product of {@code q
 * - c} and {@code e = o - f y}. Everything that the query has no part in is in the entry, so one
 * table of {@code <y, q>} serves all lists.
 */
final class ResidualEncoder implements EntryEncoder {

  // codes that are farther off are not stretched: the error would grow
  private static final double MOST_FACTOR = 4;

  private final boolean products;
  private final Codebook codebook;
  private final PqEncoder encoder;
  private final float[] vector;
  private final float[] decoded;
  private final byte[] code;
  private double square;
  private double factor;
  private double error;

  /**
   * Makes an encoder.
   *
   * @param products whether distances are negated inner products, rather than squared Euclidean
   */
  ResidualEncoder(ListShape shape, Codebook codebook, boolean products) {
    this.products = products;
    this.codebook = codebook;
    this.encoder = new PqEncoder(codebook);
    this.vector = new float[shape.dimension()];
    this.decoded = new float[shape.dimension()];
    this.code = new byte[shape.words() * Long.BYTES];
  }

  @Override
  public void encode(
      int ordinal,
      float[] residual,
      float[] centroid,
      ByteBuffer head,
      int headAt,
      ByteBuffer tail,
      int tailAt) {
    if (headAt < 0) {
      return;
    }
    set(residual);
    double ofCentroid = product(decoded, centroid);
    double times = products ? 1 : 2;
    double constant =
        products
            ? factor * ofCentroid - product(vector, centroid)
            : square + 2 * factor * ofCentroid;
    head.putInt(headAt, ordinal);
    head.putFloat(headAt + ListShape.CONSTANT * Integer.BYTES, (float) constant);
    head.putFloat(headAt + ListShape.FACTOR * Integer.BYTES, (float) (-times * factor));
    head.putFloat(headAt + ListShape.ERROR * Integer.BYTES, (float) (times * error));
    head.put(headAt + ListShape.NUMBERS * Integer.BYTES, code);
  }

  /** Encodes a rotated residual; {@link #share} then tells of it. */
  void set(float[] residual) {
    System.arraycopy(residual, 0, vector, 0, vector.length);
    Arrays.fill(code, (byte) 0);
    encoder.encode(vector, code, 0);
    codebook.decode(code, 0, decoded);
    square = product(vector, vector);
    double along = product(vector, decoded);
    factor = MOST_FACTOR * along > square ? square / along : square == 0 ? 0 : 1;
    double sum = 0;
    for (int d = 0; d < vector.length; d++) {
      double difference = vector[d] - factor * decoded[d];
      sum += difference * difference;
    }
    error = Math.sqrt(sum);
  }

  /**
   * Returns how large the estimate's error is, compared with the product of error and length of a
   * query's residual: -1 to 1, above 0 if the estimated distance is too large, or NaN if one of
   * both is 0.
   */
  double share(float[] query) {
    double sum = 0;
    double length = 0;
    for (int d = 0; d < vector.length; d++) {
      sum += (vector[d] - factor * decoded[d]) * query[d];
      length += (double) query[d] * query[d];
    }
    return sum / (error * Math.sqrt(length));
  }

  private static double product(float[] one, float[] other) {
    double sum = 0;
    for (int d = 0; d < one.length; d++) {
      sum += (double) one[d] * other[d];
    }
    return sum;
  }
}
