package dev.vamana.search;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** Gives tests of other packages access to the reference walk. */
public final class Walks {

  private Walks() {}

  /** Walks every item, also where scoring all vectors would be the better plan. */
  public static List<WorkResult> reference(List<WorkItem> items) throws IOException {
    List<WorkResult> results = new ArrayList<>();
    for (WorkItem item : items) {
      results.add(new ReferenceWalk(item).run());
    }
    return results;
  }
}
