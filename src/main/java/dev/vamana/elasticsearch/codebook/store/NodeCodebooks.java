package dev.vamana.elasticsearch.codebook.store;

import dev.vamana.pq.SharedCodebook;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The codebooks that are ready, as this node knows them. Thread-safe, and never waits. */
public final class NodeCodebooks {
  private final Map<String, SharedCodebook> ready = new ConcurrentHashMap<>();

  /** The newest known version of a name, or null if there is none. */
  public SharedCodebook get(String name) {
    return ready.get(name);
  }

  /** Whether a codebook of this name is ready. */
  public boolean has(String name) {
    return ready.containsKey(name);
  }

  /** The names that are ready now. */
  public Set<String> names() {
    return Set.copyOf(ready.keySet());
  }

  void put(SharedCodebook codebook) {
    ready.put(codebook.name(), codebook);
  }

  void remove(String name) {
    ready.remove(name);
  }
}
