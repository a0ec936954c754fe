package dev.vamana.cuda.ahead;

import java.util.List;

/**
 * Steps in the order in which they were first seen, with a table in which each call finds its own.
 * Immutable. {@link Habit} has those that usually follow a first step.
 */
final class Steps {

  /** No steps. */
  static final Steps NONE = new Steps(List.of());

  private final List<Step> steps;
  // open addressing: index of a step and 1, or 0
  private final int[] table;

  /** Makes an instance of distinct steps. */
  Steps(List<Step> steps) {
    this.steps = List.copyOf(steps);
    this.table = new int[Integer.highestOneBit(Math.max(1, steps.size())) * 4];
    for (int i = 0; i < steps.size(); i++) {
      int at = slot(steps.get(i));
      while (table[at] != 0) {
        at = next(at);
      }
      table[at] = i + 1;
    }
  }

  private int slot(Step step) {
    int hash = step.hashCode();
    return (hash ^ (hash >>> 16)) & (table.length - 1);
  }

  private int next(int at) {
    return (at + 1) & (table.length - 1);
  }

  /** Returns the steps. */
  List<Step> list() {
    return steps;
  }

  int size() {
    return steps.size();
  }

  Step get(int i) {
    return steps.get(i);
  }

  /** Returns the index of a step, or -1. */
  int indexOf(Step step) {
    for (int at = slot(step); table[at] != 0; at = next(at)) {
      if (steps.get(table[at] - 1).equals(step)) {
        return table[at] - 1;
      }
    }
    return -1;
  }
}
