package dev.vamana.tools.text;

import java.util.Objects;
import java.util.regex.Pattern;

/**
 * A piece of documentation, one to a few sentences.
 *
 * @param source the artefact that it comes from, such as {@code lucene-core-10.5.1}
 * @param page path of the page inside the artefact, such as {@code
 *     org/apache/lucene/index/IndexWriter.html}
 * @param anchor the place on the page, without the number sign; empty for the page as a whole
 * @param title what is documented, such as {@code IndexWriter.forceMerge}
 * @param text plain text
 */
public record Passage(String source, String page, String anchor, String title, String text) {

  private static final Pattern PARAMETERS = Pattern.compile("(?<=\\w)\\([\\w.,$\\[\\] ]*\\)");

  public Passage {
    Objects.requireNonNull(source);
    Objects.requireNonNull(page);
    Objects.requireNonNull(anchor);
    Objects.requireNonNull(title);
    Objects.requireNonNull(text);
  }

  /** The package of the documented class, such as {@code org.apache.lucene.index}. */
  public String packageName() {
    int slash = page.lastIndexOf('/');
    String folder = slash < 0 ? "" : page.substring(0, slash);
    // The pages of a module lie in a folder with its name, such as org.elasticsearch.server.
    return folder.replaceFirst("^[^/]*\\.[^/]*/", "").replace('/', '.');
  }

  /**
   * Text for the encoder: the title in words, then the text without lists of parameter types, which
   * say little and take many tokens.
   */
  String sentence() {
    return words(title) + ". " + PARAMETERS.matcher(text).replaceAll("");
  }

  /** Names of Java in words: {@code IndexWriter.forceMerge} is {@code Index Writer force Merge}. */
  static String words(String name) {
    return name.replaceAll("[._$]", " ")
        .replaceAll("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", " ")
        .trim();
  }
}
