package dev.vamana.tools.text;

import static org.junit.Assert.assertArrayEquals;
import static org.junit.Assert.assertEquals;
import static org.junit.Assert.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.Test;

/** Words are cut as BERT's tokenizer cuts them. */
public class WordPieceTests {

  private static final List<String> PIECES =
      List.of(
          "[PAD]", "[UNK]", "[CLS]", "[SEP]", "merge", "segment", "##s", "##ment", "seg", "naive",
          ".", ",", "+", "c", "a", "##a");

  private static WordPiece tokenizer() {
    Map<String, Integer> vocabulary = new HashMap<>();
    for (String piece : PIECES) {
      vocabulary.put(piece, vocabulary.size());
    }
    return new WordPiece(vocabulary);
  }

  private static void assertPieces(String text, String... pieces) {
    long[] numbers = tokenizer().encode(text, 20);
    assertEquals(PIECES.indexOf("[CLS]"), numbers[0]);
    assertEquals(PIECES.indexOf("[SEP]"), numbers[numbers.length - 1]);
    String[] found = new String[numbers.length - 2];
    for (int i = 0; i < found.length; i++) {
      found[i] = PIECES.get((int) numbers[i + 1]);
    }
    assertArrayEquals(text, pieces, found);
  }

  @Test
  public void testPieces() {
    assertPieces("");
    assertPieces("merge segments", "merge", "segment", "##s");
    assertPieces("  MERGE,segments.\n", "merge", ",", "segment", "##s", ".");
    assertPieces("na\u00efve c++", "naive", "c", "+", "+");
    assertPieces("merges unheard", "merge", "##s", "[UNK]");
    assertPieces("segx", "[UNK]");
    assertPieces("a\u0000\u200ba", "a", "##a");
    assertPieces("a".repeat(101), "[UNK]");
  }

  @Test
  public void testLongTextsAreCut() {
    Random random = new Random(3);
    for (int i = 0; i < 50; i++) {
      int words = random.nextInt(30);
      int most = 3 + random.nextInt(30);
      long[] numbers = tokenizer().encode("segments ".repeat(words), most);
      assertEquals(Math.min(most, 2 + 2 * words), numbers.length);
      assertEquals(PIECES.indexOf("[SEP]"), numbers[numbers.length - 1]);
    }
  }

  @Test
  public void testVocabularyOfAFile() throws IOException {
    String json = "{\"model\": {\"vocab\": {\"[UNK]\": 0, \"[CLS]\": 1, \"[SEP]\": 2, \"a\": 3}}}";
    WordPiece read =
        WordPiece.read(new ByteArrayInputStream(json.getBytes(StandardCharsets.UTF_8)));
    assertArrayEquals(new long[] {1, 3, 0, 2}, read.encode("a b", 9));
    assertThrows(IllegalArgumentException.class, () -> new WordPiece(Map.of("a", 0)));
    assertThrows(
        IOException.class,
        () -> WordPiece.read(new ByteArrayInputStream("{}".getBytes(StandardCharsets.UTF_8))));
  }
}
