package dev.vamana.pq;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.zip.CRC32;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * The bytes of a {@link SharedCodebook}. All numbers are little-endian:
 *
 * <ul>
 *   <li><b>int32</b> {@value #MAGIC}, <b>int32</b> version of this form, {@value #FORM}
 *   <li>16 * <b>byte</b> identity of the training run
 *   <li><b>int32</b> length, <b>UTF-8</b> name; <b>int64</b> version
 *   <li><b>int32</b> similarity: 0 EUCLIDEAN, 1 DOT_PRODUCT, 2 COSINE, 3 MAXIMUM_INNER_PRODUCT
 *   <li><b>int32</b> dimension, <b>int32</b> subspaces
 *   <li><b>int64</b> vectors, <b>int32</b> sample size, <b>float64</b> quantization error,
 *       <b>int32</b> length and <b>UTF-8</b> of where it was trained from
 *   <li>256 * dimension * <b>float32</b> centroids, in the order of {@link Codebook}
 *   <li><b>int64</b> CRC-32 of all bytes before it
 * </ul>
 */
final class SharedCodebookFile {

  // "VCBK" in byte order of the file
  private static final int MAGIC = 0x4B424356;
  private static final int FORM = 1;

  // the file stores positions in this list, so its order must not change
  private static final List<VectorSimilarityFunction> SIMILARITIES =
      List.of(
          VectorSimilarityFunction.EUCLIDEAN,
          VectorSimilarityFunction.DOT_PRODUCT,
          VectorSimilarityFunction.COSINE,
          VectorSimilarityFunction.MAXIMUM_INNER_PRODUCT);

  private static final int FIXED_BYTES =
      8 * Integer.BYTES + 3 * Long.BYTES + Double.BYTES + CodebookId.ID_BYTES;
  // most bytes of a UTF-16 unit in UTF-8
  private static final int UTF8_BYTES = 3;

  private SharedCodebookFile() {}

  static byte[] write(SharedCodebook shared) {
    float[] centroids = shared.codebook().centroids();
    CodebookTraining training = shared.training();
    byte[] name = shared.name().getBytes(StandardCharsets.UTF_8);
    byte[] trainedFrom = training.trainedFrom().getBytes(StandardCharsets.UTF_8);
    byte[] bytes =
        new byte[FIXED_BYTES + name.length + trainedFrom.length + centroids.length * Float.BYTES];
    ByteBuffer out = littleEndian(bytes);
    out.putInt(MAGIC).putInt(FORM).put(shared.codebook().id().id());
    out.putInt(name.length).put(name).putLong(shared.version());
    out.putInt(SIMILARITIES.indexOf(shared.similarity()));
    out.putInt(shared.dimension()).putInt(shared.subspaces());
    out.putLong(training.vectors()).putInt(training.sampleSize());
    out.putDouble(training.quantizationError());
    out.putInt(trainedFrom.length).put(trainedFrom);
    for (float component : centroids) {
      out.putFloat(component);
    }
    out.putLong(checksum(bytes));
    return bytes;
  }

  static SharedCodebook read(byte[] bytes) {
    ByteBuffer in = littleEndian(bytes);
    try {
      return read(bytes, in);
    } catch (BufferUnderflowException e) {
      throw new IllegalArgumentException(
          "invalid codebook: cut short, " + bytes.length + " bytes", e);
    }
  }

  private static SharedCodebook read(byte[] bytes, ByteBuffer in) {
    check(in.getInt() == MAGIC, "not the bytes of a codebook");
    int form = in.getInt();
    check(form == FORM, "form " + form + ", expected " + FORM);
    byte[] id = new byte[CodebookId.ID_BYTES];
    in.get(id);
    String name = string(in, "name", SharedCodebook.MAX_NAME_BYTES);
    long version = in.getLong();
    int similarity = in.getInt();
    check(similarity >= 0 && similarity < SIMILARITIES.size(), "similarity " + similarity);
    int dimension = in.getInt();
    SubspaceLayout layout = new SubspaceLayout(dimension, in.getInt());
    long vectors = in.getLong();
    int sampleSize = in.getInt();
    double error = in.getDouble();
    String trainedFrom =
        string(in, "trained from", CodebookTraining.MAX_SOURCE_LENGTH * UTF8_BYTES);
    int count = Codebook.CENTROIDS * dimension;
    int expected = in.position() + count * Float.BYTES + Long.BYTES;
    check(bytes.length == expected, bytes.length + " bytes, expected " + expected);
    float[] centroids = new float[count];
    in.asFloatBuffer().get(centroids);
    in.position(in.position() + count * Float.BYTES);
    check(in.getLong() == checksum(bytes), "damaged, its checksum is another");
    for (float component : centroids) {
      check(Float.isFinite(component), "a centroid has " + component);
    }
    check(version >= 1 && version <= Integer.MAX_VALUE, "version " + version);
    return new SharedCodebook(
        name,
        version,
        new Codebook(new CodebookId(id, name, (int) version), layout, centroids),
        SIMILARITIES.get(similarity),
        new CodebookTraining(vectors, sampleSize, error, trainedFrom));
  }

  /** Reads a string; checks its length before allocating memory. */
  private static String string(ByteBuffer in, String what, int most) {
    int length = in.getInt();
    check(length >= 0 && length <= most, what + " of " + length + " bytes");
    byte[] utf8 = new byte[length];
    in.get(utf8);
    return new String(utf8, StandardCharsets.UTF_8);
  }

  private static void check(boolean valid, String problem) {
    if (valid == false) {
      throw new IllegalArgumentException("invalid codebook: " + problem);
    }
  }

  private static ByteBuffer littleEndian(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns the CRC-32 of all bytes except the last eight. */
  private static long checksum(byte[] bytes) {
    CRC32 crc = new CRC32();
    crc.update(bytes, 0, bytes.length - Long.BYTES);
    return crc.getValue();
  }
}
