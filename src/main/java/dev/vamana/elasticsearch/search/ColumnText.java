package dev.vamana.elasticsearch.search;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * Writes rows of a column as JSON text, such as {@code ["7","12"],["5"]}. Text of its own is much
 * cheaper than one call of a generator for each entry. Not thread-safe.
 */
final class ColumnText {

  /** Bytes that an entry may add besides its text. */
  private static final int MARKS = 8;

  private byte[] bytes;
  private int length;

  /**
   * Makes an empty text.
   *
   * @param expected expected number of bytes
   */
  ColumnText(int expected) {
    bytes = new byte[expected];
  }

  /** Begins a row. */
  void beginRow() {
    ensure(0);
    if (length > 0) {
      bytes[length++] = ',';
    }
    bytes[length++] = '[';
  }

  /** Ends a row. */
  void endRow() {
    ensure(0);
    if (bytes[length - 1] == ',') {
      length--;
    }
    bytes[length++] = ']';
  }

  /**
   * Adds a string to the row.
   *
   * @return false if the string has characters that are not written as they are; the text must not
   *     be used then
   */
  boolean add(String value) {
    int count = value.length();
    ensure(count);
    byte[] out = bytes;
    int next = length;
    out[next++] = '"';
    for (int i = 0; i < count; i++) {
      char c = value.charAt(i);
      if (c < ' ' || c > '~' || c == '"' || c == '\\') {
        return false;
      }
      out[next++] = (byte) c;
    }
    out[next++] = '"';
    out[next++] = ',';
    length = next;
    return true;
  }

  /** Adds a string of characters that are written as they are. */
  void addQuoted(byte[] ascii, int offset, int count) {
    ensure(count);
    byte[] out = bytes;
    int next = length;
    out[next++] = '"';
    for (int i = offset; i < offset + count; i++) {
      out[next++] = ascii[i];
    }
    out[next++] = '"';
    out[next++] = ',';
    length = next;
  }

  /**
   * Adds a float to the row.
   *
   * @return false if the float is not finite; the text must not be used then
   */
  boolean add(float value) {
    if (Float.isFinite(value) == false) {
      return false;
    }
    ensure(ShortestFloat.MOST_BYTES);
    length = ShortestFloat.write(value, bytes, length);
    bytes[length++] = ',';
    return true;
  }

  private void ensure(int more) {
    int needed = Math.addExact(length, more + MARKS);
    if (needed > bytes.length) {
      bytes = Arrays.copyOf(bytes, Math.max(needed, bytes.length + bytes.length / 2));
    }
  }

  /** The rows, separated by commas. */
  @Override
  public String toString() {
    return new String(bytes, 0, length, StandardCharsets.ISO_8859_1);
  }
}
