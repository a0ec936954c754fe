package dev.vamana.elasticsearch;

import java.util.Locale;

/** JSON text from templates. */
final class Json {
  private Json() {}

  /**
   * A template of {@link String#format(Locale, String, Object...)} filled in, in any locale alike.
   */
  static String of(String template, Object... values) {
    return String.format(Locale.ROOT, template, values);
  }
}
