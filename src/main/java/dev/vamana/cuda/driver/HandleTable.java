package dev.vamana.cuda.driver;

import java.util.Arrays;

/**
 * Objects of the bindings by number. A number is not used again after its object was removed, so
 * that a stale one is noticed. Looking up takes no lock.
 */
final class HandleTable<T> {

  private record Entry(long handle, Object value) {}

  private final String what;
  private volatile Entry[] entries = new Entry[8];
  private int generation;

  /**
   * An empty table.
   *
   * @param what the objects are, for messages
   */
  HandleTable(String what) {
    this.what = what;
  }

  /** Adds an object; its number, which is never 0. */
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
   * The object of this number.
   *
   * @throws IllegalArgumentException if there is none (any more)
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

  /** Removes an object. */
  synchronized T remove(long handle) {
    T value = get(handle);
    Entry[] changed = entries.clone();
    changed[(int) handle] = null;
    entries = changed;
    return value;
  }
}
