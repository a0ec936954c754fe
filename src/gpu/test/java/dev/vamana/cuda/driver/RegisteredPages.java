package dev.vamana.cuda.driver;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The ranges of host memory registered with a {@link SimulatedDriver}, or with all of a machine.
 */
public final class RegisteredPages {

  private final TreeMap<Long, Long> bytesByAddress = new TreeMap<>();

  /** False if one of the pages is registered already. */
  synchronized boolean add(long address, long bytes) {
    Map.Entry<Long, Long> before = bytesByAddress.lowerEntry(address + bytes);
    if (before != null && before.getKey() + before.getValue() > address) {
      return false;
    }
    bytesByAddress.put(address, bytes);
    return true;
  }

  /** False if this is not, or no longer, the first page of a range. */
  synchronized boolean remove(long address) {
    return bytesByAddress.remove(address) != null;
  }

  synchronized List<Long> addresses() {
    return List.copyOf(bytesByAddress.keySet());
  }

  /** Whether all of these bytes are in one range. */
  synchronized boolean hold(long address, long bytes) {
    Map.Entry<Long, Long> range = bytesByAddress.floorEntry(address);
    return range != null && range.getKey() + range.getValue() >= address + bytes;
  }

  public synchronized long bytes() {
    return bytesByAddress.values().stream().mapToLong(bytes -> bytes).sum();
  }

  synchronized List<String> ranges() {
    return bytesByAddress.values().stream().map(bytes -> bytes + " bytes registered").toList();
  }
}
