package dev.vamana.tools.text;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Passages of Javadoc, questions and embeddings. */
@LuceneTestCase.SuppressFileSystems("ExtrasFS")
public class TextSetTests extends LuceneTestCase {

  public void testPassagesOfAPage() {
    List<Passage> passages =
        new JavadocPage("tiny", "org.mod/org/tiny/Writer.Part.html", TestText.page(2)).passages();
    assertEquals(3, passages.size());
    Passage type = passages.get(0);
    assertEquals("Writer.Part", type.title());
    assertEquals("Writes tiny things & more to a tiny file.", type.text());
    assertEquals("org.tiny", type.packageName());
    Passage member = passages.get(2);
    assertEquals("Writer.Part.openFile1", member.title());
    assertEquals("openFile1(int)", member.anchor());
    assertEquals(
        "Opens file number 1 of the folder <script>alert(1)</script> here.", member.text());
    assertEquals(
        "Writer Part open File1. Opens file number 1 of the folder <script>alert</script> here.",
        member.sentence());
  }

  public void testWhatIsLeftOut() {
    String section = "<section class=\"detail\" id=\"%s\"><div class=\"block\">%s</div></section>";
    String six = "one two three four five six";
    String page =
        String.format(
                Locale.ROOT,
                section,
                "copied()",
                "<span>Description copied from interface: X</span>")
            + String.format(Locale.ROOT, section, "few()", "one two three four five")
            + String.format(
                Locale.ROOT,
                section,
                "size()",
                "Returns the value of the <code>size</code> record component.")
            + String.format(Locale.ROOT, section, "&lt;init&gt;(int)", six)
            + String.format(Locale.ROOT, section, "nested()", "<div>" + six + "</div> seven");
    List<Passage> passages = new JavadocPage("s", "a/B.html", page).passages();
    assertEquals(List.of("B", "B.nested"), passages.stream().map(Passage::title).toList());
    assertEquals(six + " seven", passages.get(1).text());
  }

  public void testEmbeddingsAreKept() throws Exception {
    Path cache = createTempDir();
    JavadocFolder javadoc = TestText.folder(createTempDir(), 30);
    WordEncoder encoder = new WordEncoder();
    AtomicInteger told = new AtomicInteger();
    TextSet first =
        TextSet.of(javadoc, encoder, cache, 1000, 12, (done, all) -> told.set(100 * done / all));
    assertEquals(100, told.get());
    assertEquals(31, first.passages().size());
    assertEquals(12, first.questions().size());
    assertEquals(12, new HashSet<>(first.questions()).size());
    assertEquals(43, encoder.encoded());
    TextSet again = TextSet.of(javadoc, encoder, cache, 1000, 12, (done, all) -> fail("encoded"));
    assertEquals(first.questions(), again.questions());
    assertEquals(31 + 2 * 12, encoder.encoded());
    for (int i = 0; i < 31; i++) {
      assertArrayEquals(first.vectors()[i], again.vectors()[i], 0);
    }
    TextSet fewer = TextSet.of(javadoc, encoder, cache, 7, 12, (done, all) -> {});
    assertEquals(7, fewer.vectors().length);
    // the test framework would put files of its own into some folders
    try (Stream<Path> files = Files.list(cache)) {
      assertEquals(2, files.count());
    }
  }
}
