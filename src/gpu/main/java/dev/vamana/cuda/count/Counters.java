package dev.vamana.cuda.count;

import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;

/**
 * A group of counters by name. Its owner adds all of them before other threads see the group, and
 * counts in the adders.
 */
public final class Counters {

  private final Map<String, LongAdder> adders = new LinkedHashMap<>();

  /** Adds a counter of value 0. */
  public LongAdder add(String name) {
    LongAdder adder = new LongAdder();
    adders.put(name, adder);
    return adder;
  }

  /** Adds a counter for each value of a type. */
  public <E extends Enum<E>> Map<E, LongAdder> addAll(Class<E> type, Function<E, String> name) {
    Map<E, LongAdder> added = new EnumMap<>(type);
    for (E value : type.getEnumConstants()) {
      added.put(value, add(name.apply(value)));
    }
    return added;
  }

  /** Returns the values now. */
  public SortedMap<String, Long> sums() {
    SortedMap<String, Long> sums = new TreeMap<>();
    adders.forEach((name, adder) -> sums.put(name, adder.sum()));
    return sums;
  }
}
