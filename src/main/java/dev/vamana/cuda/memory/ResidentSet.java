package dev.vamana.cuda.memory;

import java.util.HashSet;
import java.util.Set;

/**
 * Segments that hold memory of a device, those of closed segments that are still in use included.
 */
final class ResidentSet {

  private final Set<Resident> all = new HashSet<>();

  synchronized void add(Resident resident) {
    all.add(resident);
  }

  /** Returns whether it was in here. */
  synchronized boolean remove(Resident resident) {
    notifyAll();
    return all.remove(resident);
  }

  /** Removes those of a lost context. */
  synchronized void removeAll(DeviceMemory lost) {
    all.removeIf(resident -> resident.memory() == lost);
    notifyAll();
  }

  synchronized void awaitEmpty() {
    Waiting.until(this, all::isEmpty);
  }
}
