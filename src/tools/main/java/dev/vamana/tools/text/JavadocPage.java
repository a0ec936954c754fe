package dev.vamana.tools.text;

import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The passages of one page as the JDK's standard doclet writes it: the descriptions of the class or
 * package and of its members, long ones in several passages. What is copied from a superclass is
 * left out, since its own page has it.
 */
final class JavadocPage {

  private static final Pattern SECTION =
      Pattern.compile(
          "<section class=\"(detail|class-description|package-description)\"(?: id=\"([^\"]*)\")?");
  private static final String BLOCK = "<div class=\"block\">";
  private static final Pattern DIV = Pattern.compile("<(/?)div\\b");
  private static final Pattern UNREADABLE =
      Pattern.compile("(?s)<pre\\b.*?</pre>|<table\\b.*?</table>|<!--.*?-->");
  private static final Pattern TAG = Pattern.compile("<[^>]*>");
  private static final Pattern INLINE =
      Pattern.compile("</?(?:code|a|b|i|em|strong|span|wbr|tt)\\b[^>]*>");
  private static final Pattern ENTITY = Pattern.compile("&(#x?[0-9a-fA-F]+|[a-zA-Z]+);");

  private static final Set<String> CONSTRUCTOR = Set.of("<init>", "%3Cinit%3E");

  /** Sentences that the doclet itself writes about records and enums. */
  private static final Pattern STANDARD =
      Pattern.compile(
          "Returns the value of the \\S+ record component\\."
              + "|(Returns|Indicates|Creates) .* (this enum|this record class|record class)\\b.*");

  private static final int FEWEST_WORDS = 6;
  private static final int MOST_WORDS = 48;

  private final String source;
  private final String path;
  private final String html;

  JavadocPage(String source, String path, String html) {
    this.source = source;
    this.path = path;
    this.html = html;
  }

  List<Passage> passages() {
    List<Passage> passages = new ArrayList<>();
    Matcher section = SECTION.matcher(html);
    boolean more = section.find();
    while (more) {
      int from = section.end();
      String kind = section.group(1);
      String anchor = section.group(2) == null ? "" : unescaped(section.group(2));
      more = section.find();
      String content = html.substring(from, more ? section.start() : html.length());
      String text = description(content);
      boolean member = kind.equals("detail");
      for (String part : parts(text)) {
        passages.add(
            new Passage(source, path, member ? anchor : "", title(member ? anchor : ""), part));
      }
    }
    return passages;
  }

  /** The description at the beginning of a section, empty if there is none. */
  private static String description(String section) {
    int end = section.indexOf("</section>");
    String own = end < 0 ? section : section.substring(0, end);
    int from = own.indexOf(BLOCK);
    if (from < 0 || own.contains("Description copied from")) {
      return "";
    }
    from += BLOCK.length();
    Matcher div = DIV.matcher(own);
    int depth = 1;
    int at = from;
    while (depth > 0 && div.find(at)) {
      depth += div.group(1).isEmpty() ? 1 : -1;
      at = div.end();
    }
    return plain(own.substring(from, depth > 0 ? own.length() : div.start()));
  }

  /** Text that a browser shows of some HTML, in one line and without code samples and tables. */
  static String plain(String html) {
    String text = UNREADABLE.matcher(html).replaceAll(" ");
    text = INLINE.matcher(text).replaceAll("");
    text = TAG.matcher(text).replaceAll(" ");
    return unescaped(text).replaceAll("[\\s\\u00a0]+", " ").trim();
  }

  private static String unescaped(String text) {
    return ENTITY
        .matcher(text)
        .replaceAll(match -> Matcher.quoteReplacement(character(match.group(1), match.group())));
  }

  private static String character(String name, String entity) {
    if (name.startsWith("#")) {
      boolean hexadecimal = name.startsWith("#x") || name.startsWith("#X");
      try {
        int c = Integer.parseInt(name.substring(hexadecimal ? 2 : 1), hexadecimal ? 16 : 10);
        return Character.isValidCodePoint(c) ? Character.toString(c) : entity;
      } catch (NumberFormatException e) {
        return entity;
      }
    }
    return switch (name) {
      case "lt" -> "<";
      case "gt" -> ">";
      case "amp" -> "&";
      case "quot" -> "\"";
      case "nbsp" -> " ";
      default -> entity;
    };
  }

  /** {@code Class.member} of an anchor such as {@code member(int)}; constructors are the class. */
  private String title(String anchor) {
    String file = path.substring(path.lastIndexOf('/') + 1).replaceFirst("\\.html$", "");
    if (file.equals("package-summary")) {
      return "package " + new Passage(source, path, "", "", "").packageName();
    }
    int bracket = anchor.indexOf('(');
    String member = bracket < 0 ? anchor : anchor.substring(0, bracket);
    return member.isEmpty() || CONSTRUCTOR.contains(member) ? file : file + "." + member;
  }

  /** Whole sentences in parts of at most {@link #MOST_WORDS} words, as far as sentences allow. */
  private static List<String> parts(String text) {
    List<String> parts = new ArrayList<>();
    StringBuilder part = new StringBuilder();
    int words = 0;
    for (String sentence : text.split("(?<=[.!?:]) +(?=[A-Z(\"])")) {
      int length = sentence.split(" ").length;
      if (words > 0 && words + length > MOST_WORDS) {
        addPart(parts, part, words);
        part.setLength(0);
        words = 0;
      }
      part.append(part.isEmpty() ? "" : " ").append(sentence);
      words += length;
    }
    addPart(parts, part, words);
    return parts;
  }

  private static void addPart(List<String> parts, StringBuilder part, int words) {
    if (words >= FEWEST_WORDS && STANDARD.matcher(part).matches() == false) {
      parts.add(part.toString());
    }
  }
}
