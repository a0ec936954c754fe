package dev.vamana.tools.text;

import com.fasterxml.jackson.jr.ob.JSON;
import java.io.IOException;
import java.io.InputStream;
import java.text.Normalizer;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The tokenizer of uncased BERT models: words are lower-cased, freed from accents and cut into the
 * longest pieces that the vocabulary has.
 */
public final class WordPiece {

  private static final int LONGEST_WORD = 100;

  private final Map<String, Integer> vocabulary;
  private final int unknown;
  private final int first;
  private final int last;

  /**
   * A tokenizer with this vocabulary.
   *
   * @param vocabulary pieces and their numbers; pieces inside a word begin with {@code ##}; must
   *     hold {@code [UNK]}, {@code [CLS]} and {@code [SEP]}
   */
  WordPiece(Map<String, Integer> vocabulary) {
    this.vocabulary = Map.copyOf(vocabulary);
    this.unknown = number("[UNK]");
    this.first = number("[CLS]");
    this.last = number("[SEP]");
  }

  /** Reads the vocabulary of a {@code tokenizer.json} as Hugging Face's tokenizers write it. */
  public static WordPiece read(InputStream json) throws IOException {
    Object model = JSON.std.mapFrom(json).get("model");
    if (model instanceof Map<?, ?> map && map.get("vocab") instanceof Map<?, ?> words) {
      Map<String, Integer> vocabulary = new HashMap<>();
      words.forEach(
          (piece, number) -> vocabulary.put(piece.toString(), ((Number) number).intValue()));
      return new WordPiece(vocabulary);
    }
    throw new IOException("the tokenizer has no model.vocab");
  }

  private int number(String piece) {
    Integer number = vocabulary.get(piece);
    if (number == null) {
      throw new IllegalArgumentException("the vocabulary lacks " + piece);
    }
    return number;
  }

  /**
   * The numbers of a text's pieces, between the numbers of {@code [CLS]} and {@code [SEP]}.
   *
   * @param most numbers to return at most, 3 or more; further pieces are left out
   */
  public long[] encode(String text, int most) {
    long[] numbers = new long[most];
    int size = 0;
    numbers[size++] = first;
    for (String word : separated(text).split(" ")) {
      if (word.isEmpty() || size == most - 1) {
        continue;
      }
      long[] pieces = pieces(word);
      int room = Math.min(pieces.length, most - 1 - size);
      System.arraycopy(pieces, 0, numbers, size, room);
      size += room;
    }
    numbers[size++] = last;
    return Arrays.copyOf(numbers, size);
  }

  /** Lower case without accents and control characters, punctuation and ideographs as words. */
  private static String separated(String text) {
    String plain = Normalizer.normalize(text.toLowerCase(Locale.ROOT), Normalizer.Form.NFD);
    StringBuilder words = new StringBuilder(plain.length() + 16);
    plain
        .codePoints()
        .forEach(
            c -> {
              int type = Character.getType(c);
              if (Character.isWhitespace(c) || type == Character.SPACE_SEPARATOR) {
                words.append(' ');
              } else if (isPunctuation(c, type) || Character.isIdeographic(c)) {
                words.append(' ').appendCodePoint(c).append(' ');
              } else if (type != Character.NON_SPACING_MARK
                  && type != Character.CONTROL
                  && type != Character.FORMAT
                  && c != 0xFFFD) {
                words.appendCodePoint(c);
              }
            });
    return words.toString();
  }

  private static boolean isPunctuation(int c, int type) {
    // Signs such as + and $ are no punctuation to Unicode, but to BERT.
    boolean sign = c > ' ' && c < 0x7F && Character.isLetterOrDigit(c) == false;
    return sign
        || type == Character.CONNECTOR_PUNCTUATION
        || type == Character.DASH_PUNCTUATION
        || type == Character.START_PUNCTUATION
        || type == Character.END_PUNCTUATION
        || type == Character.INITIAL_QUOTE_PUNCTUATION
        || type == Character.FINAL_QUOTE_PUNCTUATION
        || type == Character.OTHER_PUNCTUATION;
  }

  private long[] pieces(String word) {
    if (word.codePointCount(0, word.length()) > LONGEST_WORD) {
      return new long[] {unknown};
    }
    long[] pieces = new long[word.length()];
    int size = 0;
    for (int from = 0; from < word.length(); ) {
      int to = word.length();
      Integer number = null;
      while (to > from) {
        number = vocabulary.get((from == 0 ? "" : "##") + word.substring(from, to));
        if (number != null) {
          break;
        }
        to--;
      }
      if (number == null) {
        return new long[] {unknown};
      }
      pieces[size++] = number;
      from = to;
    }
    return Arrays.copyOf(pieces, size);
  }
}
