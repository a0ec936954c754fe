package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Objects;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;

/**
 * The vectors of a batched search, all of one length, as floats or as bytes.
 *
 * <p>The shards decide whether the vectors fit a field, since only they know its mapping. Floats
 * fit fields of floats, and fields of bytes if all components are whole numbers from -128 to 127.
 * Bytes fit fields of bytes. For a field of floats, bytes are components if there are as many as
 * dimensions, and big-endian float32 values, the order of Elasticsearch, if there are four times as
 * many; so a client need not declare which it sends.
 *
 * <p>Between nodes, vectors are raw little-endian values. Arrays are not copied and must not be
 * changed.
 */
public final class QueryVectors implements Writeable {

  /** Bytes of an array without its elements. */
  private static final int ARRAY_OVERHEAD = 24;

  private final float[][] floats;
  private final byte[][] bytes;

  private QueryVectors(float[][] floats, byte[][] bytes) {
    this.floats = floats;
    this.bytes = bytes;
  }

  /**
   * Makes vectors of floats.
   *
   * @throws IllegalArgumentException if a vector is empty or the lengths differ
   */
  public static QueryVectors ofFloats(float[][] vectors) {
    Objects.requireNonNull(vectors, "vectors");
    for (int i = 0; i < vectors.length; i++) {
      checkLength(i, vectors[i].length, vectors[0].length);
    }
    return new QueryVectors(vectors, null);
  }

  /**
   * Makes vectors of bytes.
   *
   * @throws IllegalArgumentException if a vector is empty or the lengths differ
   */
  public static QueryVectors ofBytes(byte[][] vectors) {
    Objects.requireNonNull(vectors, "vectors");
    for (int i = 0; i < vectors.length; i++) {
      checkLength(i, vectors[i].length, vectors[0].length);
    }
    return new QueryVectors(null, vectors);
  }

  private static void checkLength(int number, int length, int first) {
    if (length == 0) {
      throw new IllegalArgumentException("query vector [" + number + "] is empty");
    }
    if (length != first) {
      throw new IllegalArgumentException(
          "query vectors must have the same length, but vector [0] has ["
              + first
              + "] components and vector ["
              + number
              + "] has ["
              + length
              + "]");
    }
  }

  /**
   * Reads what {@link #writeTo} wrote. Memory is taken once the bytes for it are known to be there.
   *
   * @throws IOException if the message has fewer bytes than it announces
   */
  public static QueryVectors readFrom(StreamInput in) throws IOException {
    boolean ofFloats = in.readBoolean();
    int count = in.readVInt();
    int length = in.readVInt();
    int width = ofFloats ? Float.BYTES : 1;
    if (count < 0
        || length < 0
        || (length == 0 && count > 0)
        || (long) count * length > in.available() / width) {
      throw new IOException(
          "the message announces ["
              + count
              + "] query vectors of ["
              + length
              + "] components, but has ["
              + in.available()
              + "] bytes left");
    }
    byte[][] bytes = ofFloats ? null : new byte[count][length];
    float[][] floats = ofFloats ? new float[count][length] : null;
    byte[] raw = ofFloats ? new byte[Math.multiplyExact(length, Float.BYTES)] : null;
    for (int i = 0; i < count; i++) {
      if (ofFloats) {
        in.readBytes(raw, 0, raw.length);
        littleEndian(raw).asFloatBuffer().get(floats[i]);
      } else {
        in.readBytes(bytes[i], 0, length);
      }
    }
    return new QueryVectors(floats, bytes);
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    int length = length();
    out.writeBoolean(floats != null);
    out.writeVInt(count());
    out.writeVInt(length);
    byte[] raw = floats == null ? null : new byte[Math.multiplyExact(length, Float.BYTES)];
    for (int i = 0; i < count(); i++) {
      if (floats != null) {
        littleEndian(raw).asFloatBuffer().put(floats[i]);
        out.writeBytes(raw, 0, raw.length);
      } else {
        out.writeBytes(bytes[i], 0, length);
      }
    }
  }

  private static ByteBuffer littleEndian(byte[] raw) {
    return ByteBuffer.wrap(raw).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Number of vectors. */
  public int count() {
    return floats != null ? floats.length : bytes.length;
  }

  /** Components per vector; 0 if there are no vectors. */
  public int length() {
    if (count() == 0) {
      return 0;
    }
    return floats != null ? floats[0].length : bytes[0].length;
  }

  /** The vectors of floats, or null if they are bytes. */
  public float[][] floats() {
    return floats;
  }

  /** The vectors of bytes, or null if they are floats. */
  public byte[][] bytes() {
    return bytes;
  }

  /** Memory of the vectors in bytes, for circuit breakers. */
  public long ramBytesUsed() {
    long each = (long) length() * (floats != null ? Float.BYTES : 1) + ARRAY_OVERHEAD;
    return count() * each;
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof QueryVectors that
        && Arrays.deepEquals(floats, that.floats)
        && Arrays.deepEquals(bytes, that.bytes);
  }

  @Override
  public int hashCode() {
    return 31 * Arrays.deepHashCode(floats) + Arrays.deepHashCode(bytes);
  }
}
