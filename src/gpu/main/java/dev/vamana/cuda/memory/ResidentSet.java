package dev.vamana.cuda.memory;

import java.util.HashSet;
import java.util.Set;

/** The segments that occupy device memory, including closed segments that are still in use. */
final class ResidentSet {

  private final Set<Resident> all = new HashSet<>();

  synchronized void add(Resident resident) {
    all.add(resident);
  }

  /** Removes a segment. Returns whether it was in the set. */
  synchronized boolean remove(Resident resident) {
    notifyAll();
    return all.remove(resident);
  }

  /** Removes all segments, in a lost context. */
  synchronized void clear() {
    all.clear();
    notifyAll();
  }

  synchronized void awaitEmpty() {
    Waiting.until(this, all::isEmpty);
  }
}
