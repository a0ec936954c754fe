package dev.vamana.cuda.call;

import dev.vamana.cuda.plan.Contest;

/** Sums of the contested items that one call wants. Not thread-safe. */
public final class Contested {

  private int items;
  private double work;
  private double favoured;

  void add(Contest contest, int count) {
    items += count;
    work += count * contest.work();
    favoured += count * contest.favoured();
  }

  /** Returns the number of items. */
  int items() {
    return items;
  }

  /** Returns the predicted nanoseconds of the CPU. */
  double work() {
    return work;
  }

  /** Returns the part of the work that is expected to be cheaper on an idle device. */
  double favoured() {
    return favoured;
  }
}
