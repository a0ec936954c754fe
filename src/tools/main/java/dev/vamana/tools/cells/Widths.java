package dev.vamana.tools.cells;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;

/** The values of {@code num_candidates} at which an index is measured. */
public final class Widths {

  /** Values to choose from, ascending. */
  public static final List<Integer> ALL =
      List.of(10, 14, 20, 28, 40, 56, 80, 112, 160, 224, 320, 448, 640, 900);

  private Widths() {}

  /**
   * Returns the widths whose recalls enclose the compared recalls, and the smallest width.
   *
   * @param recalls recall by width, ascending from the smallest; at least one
   * @param least recall that every compared search has; lower ones are not enclosed
   * @param wanted recalls that are compared
   */
  public static List<Integer> needed(
      NavigableMap<Integer, Double> recalls, double least, List<Double> wanted) {
    List<Integer> needed = new ArrayList<>();
    List<Double> enclosed = new ArrayList<>(wanted);
    enclosed.add(least);
    needed.add(recalls.firstKey());
    for (double recall : enclosed) {
      if (recall < least) {
        continue;
      }
      Integer enough =
          recalls.keySet().stream()
              .filter(width -> recalls.get(width) >= recall)
              .findFirst()
              .orElse(recalls.lastKey());
      needed.add(enough);
      Integer below = recalls.lowerKey(enough);
      if (below != null) {
        needed.add(below);
      }
    }
    return needed.stream().distinct().sorted().toList();
  }
}
