package dev.vamana.tools.gpu;

import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Rows that stages add to their files. */
public class FragmentTests extends LuceneTestCase {

  /** Runs over all documents that differ only in their slices or round are rows of their own. */
  public void testRunsOfSlicesAreKept() throws Exception {
    Fragment fragment = Fragment.open(createTempDir(), "neighbors", "new");
    for (int run = 0; run < 3; run++) {
      Map<String, Object> row = new HashMap<>();
      row.put("set", "s");
      row.put("slices", 1 + run % 2);
      row.put("round", 1 + run / 2);
      fragment.add(FilterStage.SECTION, row);
      fragment.add(FilterStage.SECTION, row);
    }
    assertEquals(3, Fragment.rows(fragment.content(), FilterStage.SECTION).size());
  }

  public void testRowsOfOtherSourcesAreDropped() throws Exception {
    Path folder = createTempDir();
    Fragment old = Fragment.open(folder, "a", "old");
    old.add("builds", Map.of("what", "copy", "value", 1));
    assertEquals(
        List.of(),
        ReportStage.merge(List.of(Fragment.read(folder.resolve("a.json"))), List.of(), "new")
            .get("builds"));
    Fragment next = Fragment.open(folder, "a", "new");
    next.add("builds", Map.of("what", "gather", "value", 2));
    next.add("builds", Map.of("what", "gather", "value", 3));
    Map<String, Object> read = Fragment.read(folder.resolve("a.json"));
    assertEquals(List.of(Map.of("what", "gather", "value", 3)), read.get("builds"));
  }
}
