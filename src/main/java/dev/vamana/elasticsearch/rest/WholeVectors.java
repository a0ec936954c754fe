package dev.vamana.elasticsearch.rest;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Base64;

/**
 * A body of JSON whose vectors are one long base64 string, taken apart before it is parsed: a
 * parser looks at each character of a string, which costs more than to decode it.
 *
 * <p>Whatever is unusual (a comment, an escape, a string that is not base64) is left to the parser
 * of the whole body, and so is every error.
 *
 * @param rest the body with an empty string in the place of the vectors
 * @param vectors the decoded string
 */
record WholeVectors(byte[] rest, byte[] vectors) {

  /** Bodies with fewer bytes are not worth it. */
  private static final int LEAST_BYTES = 2048;

  private static final byte[] KEY = QueryVectorsParser.KEY.getBytes(StandardCharsets.US_ASCII);
  private static final VarHandle LONGS =
      MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
  private static final long ONES = 0x0101010101010101L;
  private static final long HIGHS = 0x8080808080808080L;
  private static final long QUOTES = ONES * '"';

  /** Takes a body apart; returns null if it has no such string where it is expected. */
  static WholeVectors of(byte[] body, int offset, int length) {
    if (length < LEAST_BYTES) {
      return null;
    }
    int end = offset + length;
    int from = start(body, offset, end);
    int to = from < 0 ? -1 : quote(body, from, end);
    if (to <= from) {
      return null;
    }
    byte[] vectors;
    try {
      ByteBuffer decoded = Base64.getDecoder().decode(ByteBuffer.wrap(body, from, to - from));
      vectors =
          decoded.array().length == decoded.limit()
              ? decoded.array()
              : Arrays.copyOf(decoded.array(), decoded.limit());
    } catch (IllegalArgumentException e) {
      return null;
    }
    if (vectors.length == 0) {
      return null;
    }
    byte[] rest = Arrays.copyOfRange(body, offset, offset + length - (to - from));
    System.arraycopy(body, to, rest, from - offset, end - to);
    return new WholeVectors(rest, vectors);
  }

  /** Returns the position after the quote that begins the vectors, or -1. */
  private static int start(byte[] body, int offset, int end) {
    int depth = 0;
    int i = offset;
    while (i < end) {
      byte c = body[i++];
      switch (c) {
        case '{', '[' -> depth++;
        case '}', ']' -> depth--;
        case '"' -> {
          int close = quote(body, i, end);
          while (close >= 0 && isEscaped(body, i, close)) {
            close = quote(body, close + 1, end);
          }
          if (close < 0) {
            return -1;
          }
          boolean key = depth == 1 && Arrays.equals(body, i, close, KEY, 0, KEY.length);
          i = close + 1;
          if (key) {
            int colon = afterBlanks(body, i, end);
            int value = colon < end ? afterBlanks(body, colon + 1, end) : end;
            if (colon < end && body[colon] == ':' && value < end) {
              return body[value] == '"' ? value + 1 : -1;
            }
          }
        }
        // comments may have quotes
        case '/', '#', '\'' -> {
          return -1;
        }
        default -> {}
      }
    }
    return -1;
  }

  private static boolean isEscaped(byte[] body, int from, int quote) {
    int i = quote;
    while (i > from && body[i - 1] == '\\') {
      i--;
    }
    return (quote - i) % 2 == 1;
  }

  private static int afterBlanks(byte[] body, int from, int end) {
    int i = from;
    while (i < end && (body[i] == ' ' || body[i] == '\n' || body[i] == '\r' || body[i] == '\t')) {
      i++;
    }
    return i;
  }

  /** Returns the position of the next quote, or -1; eight bytes at a time. */
  private static int quote(byte[] body, int from, int end) {
    int i = from;
    for (; i + Long.BYTES <= end; i += Long.BYTES) {
      long different = (long) LONGS.get(body, i) ^ QUOTES;
      long zero = (different - ONES) & ~different & HIGHS;
      if (zero != 0) {
        return i + Long.numberOfTrailingZeros(zero) / Byte.SIZE;
      }
    }
    for (; i < end; i++) {
      if (body[i] == '"') {
        return i;
      }
    }
    return -1;
  }
}
