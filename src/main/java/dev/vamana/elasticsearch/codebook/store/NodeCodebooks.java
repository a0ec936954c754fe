package dev.vamana.elasticsearch.codebook.store;

import dev.vamana.pq.SharedCodebook;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** The codebooks in this node's memory that are ready. Thread-safe; never waits. */
public final class NodeCodebooks {
  private final Map<String, SharedCodebook> ready = new ConcurrentHashMap<>();

  /** The newest known version of a codebook, or null if there is none. */
  public SharedCodebook get(String name) {
    return ready.get(name);
  }

  /** Whether a codebook with this name is ready. */
  public boolean has(String name) {
    return ready.containsKey(name);
  }

  /** The names of the codebooks that are ready. */
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
