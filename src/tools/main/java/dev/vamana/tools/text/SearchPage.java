package dev.vamana.tools.text;

import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;

/**
 * The page with the search box. It is complete when it arrives: no script, no other file, and a
 * question is part of the address.
 */
final class SearchPage {

  /** Choices of {@code num_candidates}. */
  static final List<Integer> CANDIDATES = List.of(10, 20, 50, 100, 200, 500);

  private static final List<String> EXAMPLES =
      List.of(
          "How do I delete documents that match a query?",
          "limit the memory that is used while indexing",
          "find points within a distance of a location",
          "Which analyzer splits Chinese and Japanese text?",
          "How are shards moved between nodes?",
          "What happens to searches while segments are merged?");

  private static final String STYLE =
      """
      :root { color-scheme: light dark; --ink: #1c2430; --soft: #566172; --line: #d8dee7;
        --paper: #f5f7fa; --card: #fff; --accent: #0b5cad; --good: #0a6b4b; --goodback: #e2f4ec;
        --bad: #a02c08; --badback: #fdeae3 }
      @media (prefers-color-scheme: dark) { :root { --ink: #e6eaf0; --soft: #a3adbb;
        --line: #333c49; --paper: #12161c; --card: #1b2129; --accent: #7fb9f5; --good: #6fd6ab;
        --goodback: #14352a; --bad: #ffab8c; --badback: #3d2017 } }
      * { box-sizing: border-box }
      body { margin: 0; background: var(--paper); color: var(--ink);
        font: 16px/1.5 system-ui, "DejaVu Sans", sans-serif }
      main { max-width: 78rem; margin: 0 auto; padding: 1.5rem 1.25rem 3rem }
      h1 { font-size: 1.45rem; margin: 0 0 .2rem } h1 a { color: inherit; text-decoration: none }
      h2 { font-size: 1.1rem; margin: 0 }
      p { margin: .4rem 0 } .soft { color: var(--soft) }
      a { color: var(--accent) }
      form { display: flex; flex-wrap: wrap; gap: .75rem; align-items: end; margin: 1.1rem 0 .8rem }
      label { display: block; font-size: .85rem; color: var(--soft); margin-bottom: .2rem }
      .question { flex: 1 1 24rem }
      input, select, button { font: inherit; color: inherit; padding: .55rem .75rem; min-height: 2.9rem;
        border: 1px solid var(--soft); border-radius: .5rem; background: var(--card) }
      input { width: 100% }
      button { background: var(--accent); border-color: var(--accent); color: var(--card);
        font-weight: 600; padding-inline: 1.4rem; cursor: pointer }
      :focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
      ul.examples { list-style: none; padding: 0; margin: .3rem 0; display: flex; flex-wrap: wrap;
        gap: .5rem }
      ul.examples a { display: block; padding: .25rem .7rem; border: 1px solid var(--line);
        border-radius: 1rem; background: var(--card); text-decoration: none; font-size: .92rem }
      .columns { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 26rem), 1fr));
        gap: 1.25rem; margin-top: 1.2rem }
      .column { min-width: 0 }
      .figures { display: flex; flex-wrap: wrap; gap: .2rem 1.2rem; margin: .3rem 0 .6rem; padding: 0 }
      .figures div { display: flex; gap: .4rem; align-items: baseline }
      .figures dt { color: var(--soft); font-size: .85rem } .figures dd { margin: 0; font-weight: 600 }
      ol.hits { list-style: none; margin: 0; padding: 0; counter-reset: rank }
      ol.hits li { counter-increment: rank; background: var(--card); border: 1px solid var(--line);
        border-radius: .6rem; padding: .65rem .85rem; margin-bottom: .6rem; overflow-wrap: anywhere }
      ol.hits h3 { font-size: 1rem; margin: 0 }
      ol.hits h3::before { content: counter(rank) ". "; color: var(--soft); font-weight: 400 }
      ol.hits p { margin: .2rem 0 } .from { font-size: .85rem; color: var(--soft) }
      .tag { font-size: .8rem; padding: .05rem .5rem; border-radius: .8rem; white-space: nowrap }
      .tag.right { color: var(--good); background: var(--goodback) }
      .tag.wrong { color: var(--bad); background: var(--badback) }
      .failure { border: 1px solid var(--bad); background: var(--badback); color: var(--bad);
        border-radius: .6rem; padding: .8rem 1rem; overflow-wrap: anywhere }
      .note { font-size: .88rem; color: var(--soft); max-width: 60rem; margin-top: 1rem }
      """;

  private final TextSet set;
  private final List<String> sources;
  private final boolean linked;

  /**
   * A page for a set of passages.
   *
   * @param sources names of the artefacts that the passages come from
   * @param linked whether hits link to the pages of the artefacts, under {@code /doc/}
   */
  SearchPage(TextSet set, List<String> sources, boolean linked) {
    this.set = set;
    this.sources = sources;
    this.linked = linked;
  }

  /** The page before anything was asked. */
  Html start() {
    Html page = begin("Ask the documentation", "", 100);
    page.raw("<h2>Try one of these</h2>\n<ul class=\"examples\">\n");
    for (String example : EXAMPLES) {
      page.raw("<li><a href=\"/?q=").text(URLEncoder.encode(example, StandardCharsets.UTF_8));
      page.raw("\">").text(example).raw("</a></li>\n");
    }
    page.raw("</ul>\n<p class=\"note\">The passages are descriptions in the Javadoc of ");
    page.text(String.join(", ", sources));
    page.raw(". A question and a passage are near when they mean the same, even without a word in");
    page.raw(" common. The questions are best asked in English.</p>\n");
    return end(page);
  }

  /** The page with the answers to a question. */
  Html answers(String question, int numCandidates, Comparison.Result result) {
    Html page = begin(question, question, numCandidates);
    page.raw("<p class=\"soft\">")
        .format("The question was encoded in %.1f ms. ", result.encodeMillis());
    page.format(
        "Comparing it with all %,d passages took %.1f ms on one core; the indices are measured"
            + " against that exact answer.",
        set.passages().size(), result.exactMillis());
    page.raw("</p>\n<div class=\"columns\">\n");
    for (int i = 0; i < result.columns().size(); i++) {
      appendColumn(page, "column-" + i, result.columns().get(i));
    }
    page.raw("</div>\n<p class=\"note\">")
        .format(
            "Times are the median of %d requests over HTTP to a warm index, asked in turn; the node and"
                + " this page share the processor. ",
            Comparison.REPEATS);
    page.format(
        "A hit marked \u2713 is among the exact %d nearest passages. Scores are Elasticsearch's:"
            + " (1 + cosine) / 2.",
        Comparison.K);
    return end(page.raw("</p>\n"));
  }

  /** The page when something else was asked for than a question. */
  Html problem(String title, String message) {
    Html page = begin(title, "", 100);
    page.raw("<div class=\"failure\" role=\"alert\"><h2>").text(title).raw("</h2><p>");
    return end(page.text(message).raw("</p></div>\n"));
  }

  private Html begin(String title, String question, int numCandidates) {
    Html page = new Html();
    page.raw("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n");
    page.raw("<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>");
    page.text(title).raw(" \u2013 elasticsearch-vamana demo</title>\n<style>\n").raw(STYLE);
    page.raw("</style></head><body><main>\n<h1><a href=\"/\">Ask the documentation</a></h1>\n");
    page.raw("<p class=\"soft\">")
        .format(
            "%,d passages of Javadoc, found by meaning: the same question to both indices of one"
                + " Elasticsearch node.",
            set.passages().size());
    page.raw("</p>\n<form action=\"/\" method=\"get\" role=\"search\">\n");
    page.raw("<div class=\"question\"><label for=\"q\">Your question</label>\n");
    page.raw("<input id=\"q\" name=\"q\" type=\"search\" required maxlength=\"");
    page.format("%d", SearchServer.LONGEST_QUESTION);
    page.raw("\" autocomplete=\"off\" placeholder=\"for example: ").text(EXAMPLES.get(0));
    return appendForm(page, question, numCandidates);
  }

  private static Html appendForm(Html page, String question, int numCandidates) {
    page.raw("\" value=\"").text(question).raw("\" autofocus></div>\n");
    page.raw("<div><label for=\"c\">num_candidates</label>\n<select id=\"c\" name=\"c\">");
    for (int choice : CANDIDATES) {
      page.raw(choice == numCandidates ? "<option selected>" : "<option>");
      page.format("%d", choice).raw("</option>");
    }
    return page.raw("</select></div>\n<button>Ask</button>\n</form>\n");
  }

  private void appendColumn(Html page, String id, Comparison.Column column) {
    page.raw("<section class=\"column\" id=\"").text(id).raw("\" aria-labelledby=\"").text(id);
    page.raw("-title\">\n<h2 id=\"").text(id).raw("-title\">").text(column.label());
    page.raw("</h2>\n");
    if (column.failure() != null) {
      page.raw(
          "<div class=\"failure\" role=\"alert\"><p><strong>This index did not answer.</strong>");
      page.raw("</p><p>").text(column.failure()).raw("</p></div>\n</section>\n");
      return;
    }
    page.raw("<dl class=\"figures\">");
    figure(page, "time", "time", String.format(Locale.ROOT, "%.2f ms", column.millis()));
    String found = column.found() + " of " + column.hits().size();
    figure(page, "recall", "exact neighbours found", found);
    figure(page, "who", "answered by", column.answeredBy());
    page.raw("</dl>\n<ol class=\"hits\">\n");
    for (int i = 0; i < column.hits().size(); i++) {
      appendHit(page, column.hits().get(i), column.right()[i]);
    }
    page.raw("</ol>\n</section>\n");
  }

  private static void figure(Html page, String type, String name, String value) {
    page.raw("<div><dt>").text(name).raw("</dt><dd class=\"").text(type).raw("\">").text(value);
    page.raw("</dd></div>");
  }

  private void appendHit(Html page, Engine.Hit hit, boolean right) {
    Passage passage = hit.passage();
    page.raw("<li><h3>");
    if (linked) {
      page.raw("<a href=\"").text(address(passage)).raw("\">").text(passage.title()).raw("</a>");
    } else {
      page.text(passage.title());
    }
    page.raw("</h3>\n<p>").text(passage.text()).raw("</p>\n<p class=\"from\">");
    page.raw(
        right
            ? "<span class=\"tag right\">\u2713 exact</span> "
            : "<span class=\"tag wrong\">\u2717 not among the nearest</span> ");
    page.format("%.4f \u00b7 %s \u00b7 %s", hit.score(), passage.source(), passage.packageName());
    page.raw("</p></li>\n");
  }

  private static String address(Passage passage) {
    String anchor = passage.anchor().isEmpty() ? "" : "#" + encoded(passage.anchor());
    return "/doc/" + encoded(passage.source()) + "/" + encoded(passage.page()) + anchor;
  }

  private static String encoded(String part) {
    return URLEncoder.encode(part, StandardCharsets.UTF_8).replace("+", "%20").replace("%2F", "/");
  }

  private static Html end(Html page) {
    return page.raw("</main></body></html>\n");
  }
}
