package dev.vamana.elasticsearch.batch.rest;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Errors of a request's body; each becomes a 400. */
final class BadBody {
  private static final int MAX_SHOWN = 100;

  private BadBody() {}

  /**
   * An error that says what is wrong.
   *
   * @param format as of {@link String#format(Locale, String, Object...)}
   */
  // the annotation that it asks for is not among the dependencies
  @SuppressWarnings("AnnotateFormatMethod")
  static IllegalArgumentException of(String format, Object... values) {
    return new IllegalArgumentException(String.format(Locale.ROOT, format, values));
  }

  /** A value as it is shown in a message: the start of it where it is long. */
  static String shown(String value) {
    return value.length() <= MAX_SHOWN ? value : value.substring(0, MAX_SHOWN) + "...";
  }

  /** As {@link #shown(String)}, for a text in UTF-8. */
  static String shown(byte[] utf8, int offset, int length) {
    return shown(new String(utf8, offset, Math.min(length, 4 * MAX_SHOWN), StandardCharsets.UTF_8));
  }
}
