package dev.vamana.elasticsearch.rest;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** Makes exceptions for errors in a request's body; each leads to status 400. */
public final class BadBody {
  private static final int MAX_SHOWN = 100;

  private BadBody() {}

  /**
   * Makes an exception.
   *
   * @param format as for {@link String#format(Locale, String, Object...)}
   */
  // the dependencies do not include the annotation that this check asks for
  @SuppressWarnings("AnnotateFormatMethod")
  public static IllegalArgumentException of(String format, Object... values) {
    return new IllegalArgumentException(String.format(Locale.ROOT, format, values));
  }

  /** Formats a value for a message; cuts long values. */
  public static String shown(String value) {
    return value.length() <= MAX_SHOWN ? value : value.substring(0, MAX_SHOWN) + "...";
  }

  /** Formats a UTF-8 value like {@link #shown(String)}. */
  static String shown(byte[] utf8, int offset, int length) {
    return shown(new String(utf8, offset, Math.min(length, 4 * MAX_SHOWN), StandardCharsets.UTF_8));
  }
}
