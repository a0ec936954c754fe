package dev.vamana.cuda.driver;

import java.util.Arrays;

/**
 * Maps numbers to objects of the bindings. A number is never reused after its object was removed,
 * so a stale number is detected. Lookups take no lock.
 */
final class HandleTable<T> {

  private record Entry(long handle, Object value) {}

  private final String what;
  private volatile Entry[] entries = new Entry[8];
  private int generation;

  /**
   * Makes an empty table.
   *
   * @param what kind of the objects, for messages
   */
  HandleTable(String what) {
    this.what = what;
  }

  /** Adds an object and returns its number, which is never 0. */
  synchronized long add(T value) {
    Entry[] old = entries;
    int slot = 0;
    while (slot < old.length && old[slot] != null) {
      slot++;
    }
    Entry[] changed = Arrays.copyOf(old, slot < old.length ? old.length : 2 * old.length);
    generation++;
    long handle = ((long) generation << 32) | slot;
    changed[slot] = new Entry(handle, value);
    entries = changed;
    return handle;
  }

  /**
   * Returns the object of a number.
   *
   * @throws IllegalArgumentException if the number has no object, or not any more
   */
  @SuppressWarnings("unchecked")
  T get(long handle) {
    Entry[] now = entries;
    int slot = (int) handle;
    Entry entry = slot >= 0 && slot < now.length ? now[slot] : null;
    if (entry == null || entry.handle != handle) {
      throw new IllegalArgumentException("no " + what + " has the number " + handle);
    }
    return (T) entry.value;
  }

  /** Removes an object and returns it. */
  synchronized T remove(long handle) {
    T value = get(handle);
    Entry[] changed = entries.clone();
    changed[(int) handle] = null;
    entries = changed;
    return value;
  }
}
