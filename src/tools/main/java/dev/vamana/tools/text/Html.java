package dev.vamana.tools.text;

import java.nio.charset.StandardCharsets;
import java.util.Locale;

/** HTML that is put together from unchecked text. */
final class Html {

  private final StringBuilder page = new StringBuilder(1 << 14);

  /** Appends HTML as it is. */
  Html raw(String html) {
    page.append(html);
    return this;
  }

  /** Appends text, which shows as it is in content and in quoted attributes. */
  Html text(String text) {
    page.append(escape(text));
    return this;
  }

  /** Appends formatted text, escaped. */
  Html format(String format, Object... values) {
    return text(String.format(Locale.ROOT, format, values));
  }

  static String escape(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }

  byte[] bytes() {
    return page.toString().getBytes(StandardCharsets.UTF_8);
  }

  @Override
  public String toString() {
    return page.toString();
  }
}
