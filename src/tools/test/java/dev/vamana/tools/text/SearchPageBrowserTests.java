package dev.vamana.tools.text;

import static org.junit.Assume.assumeTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.apache.lucene.tests.util.LuceneTestCase;

/** The page in a headless browser, as a person uses it; skipped where there is no Chromium. */
public class SearchPageBrowserTests extends LuceneTestCase {

  private static Object text(Chromium browser, String selector) throws Exception {
    return browser.evaluate("document.querySelector('" + selector + "').textContent");
  }

  private static int count(Chromium browser, String selector) throws Exception {
    Object count = browser.evaluate("document.querySelectorAll('" + selector + "').length");
    return ((Number) count).intValue();
  }

  public void testAskAQuestion() throws Exception {
    Optional<Path> program = Chromium.find();
    assumeTrue("there is no Chromium on the path", program.isPresent());
    JavadocFolder javadoc = TestText.folder(createTempDir(), 40);
    WordEncoder encoder = new WordEncoder();
    TextSet set = TextSet.of(javadoc, encoder, createTempDir(), 1000, 20, (done, all) -> {});
    List<Engine> engines =
        List.of(new TestText.ExactEngine("ours", set), new TestText.DownEngine("theirs"));
    try (SearchServer server = new SearchServer(set, encoder, engines, javadoc, 0);
        Chromium browser = Chromium.start(program.get(), createTempDir())) {
      browser.open(server.uri());
      assertEquals("q", browser.await("document.activeElement.id", "q"));
      assertEquals(
          "400 for example",
          browser.evaluate(
              "(e => e.maxLength + ' ' + e.placeholder.split(':')[0])(document.forms[0].q)"));
      assertEquals(6, count(browser, "ul.examples a"));
      browser.type("open file number 7 of the folder <i>");
      browser.enter();
      assertEquals(
          "open file number 7 of the folder <i>",
          browser.evaluate("document.getElementById('q').value"));
      assertEquals("Writer.openFile7", text(browser, "#column-0 h3"));
      assertEquals("10 of 10", text(browser, "#column-0 .recall"));
      assertTrue(text(browser, "#column-1 [role=alert]").toString().contains("<refused>"));
      assertEquals(0, count(browser, "script, i"));
      assertWideAndNarrow(browser);
      assertAccessible(browser);
      browser.click("#column-0 h3 a");
      String address = browser.evaluate("location.href").toString();
      assertTrue(address, address.endsWith("/" + TestText.PAGE + "#openFile7%28int%29"));
      assertEquals("x", browser.evaluate("document.querySelector(':target h3').textContent"));
      browser.open(server.uri());
      browser.click("ul.examples a");
      assertEquals(10, count(browser, "#column-0 li"));
    }
  }

  /** Columns stand side by side, and nothing is wider than the window. */
  private static void assertWideAndNarrow(Chromium browser) throws Exception {
    String top = "document.getElementById('column-%d').getBoundingClientRect().top";
    assertEquals(
        browser.evaluate(top.replace("%d", "0")), browser.evaluate(top.replace("%d", "1")));
    assertEquals(
        true,
        browser.evaluate(
            "document.documentElement.scrollWidth <= document.documentElement.clientWidth"));
  }

  /** Fields have labels, sections have headings, and the page names its language. */
  private static void assertAccessible(Chromium browser) throws Exception {
    assertEquals(
        0,
        ((Number)
                browser.evaluate(
                    "[...document.querySelectorAll('input, select')].filter(e => e.labels.length != 1).length"))
            .intValue());
    assertEquals(
        0,
        ((Number)
                browser.evaluate(
                    "[...document.querySelectorAll('section')].filter(e => !document.getElementById(e.getAttribute('aria-labelledby'))).length"))
            .intValue());
    assertEquals("en", browser.evaluate("document.documentElement.lang"));
    assertEquals(1, count(browser, "h1"));
  }
}
