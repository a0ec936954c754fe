package dev.vamana.cuda.ahead;

import dev.vamana.cuda.call.Request;
import dev.vamana.cuda.count.Counters;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Predicate;

/**
 * Sends the segments that a query will search next to the device together with the query's first
 * segment. Lucene's searchers search one segment after the other, so each segment would cost a
 * launch of its own. {@code GpuExecutor} asks it for every call of a single item.
 *
 * <p>Calls belong to one query if they pass the same array object. The class learns from earlier
 * queries which segments follow the first, so it works for any caller that searches segment by
 * segment, with one thread or several. Filters are not known in advance, so only calls without a
 * filter take part. Thread-safe.
 */
public final class Ahead {

  /** Queries whose answers are kept until their calls arrive; a power of two. */
  private static final int MOST_FLIGHTS = 512;

  /** When memory is short, a query is ended once this many others have begun after it. */
  private static final int OVER = 128;

  /** Most bytes that waiting answers may take. */
  private static final long MOST_BYTES = 32L << 20;

  /** Most first steps that are remembered. */
  private static final int MOST_HABITS = 1024;

  private final Map<Key, Flight> flights = new ConcurrentHashMap<>();
  private final AtomicReferenceArray<Key> order = new AtomicReferenceArray<>(MOST_FLIGHTS);
  private final AtomicInteger begun = new AtomicInteger();
  private final Map<Request, Habit> habits = new ConcurrentHashMap<>();
  private final AtomicLong memory = new AtomicLong();
  private final long mostBytes;
  private final Counters counters = new Counters();
  private final LongAdder sent = counters.add("sent");
  private final LongAdder used = counters.add("used");
  private final LongAdder inVain = counters.add("in_vain");
  private volatile boolean enabled;

  /** Answers items. */
  @FunctionalInterface
  public interface Search {

    /**
     * Answers the first item, and every other item that the device can answer now.
     *
     * @param leftAlone to be called as soon as it is known that no other item will be answered
     * @return one result per item, null for items that were left alone
     */
    List<WorkResult> search(List<WorkItem> items, Runnable leftAlone) throws IOException;

    /** Called when an item has got the answer that was sent ahead. */
    default void taken(WorkItem item) {}
  }

  /** Key of a query: its array, by identity. */
  private record Key(Object array) {

    static Key of(WorkItem item) {
      return new Key(item.query().floats() != null ? item.query().floats() : item.query().bytes());
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // equal arrays may be different queries
    public boolean equals(Object other) {
      return other instanceof Key key && key.array == array;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(array);
    }
  }

  /**
   * Makes an instance that has seen no query yet.
   *
   * @param enabled whether segments are sent ahead
   */
  public Ahead(boolean enabled) {
    this(enabled, MOST_BYTES);
  }

  /**
   * Makes an instance that has seen no query yet, with a limit.
   *
   * @param mostBytes most bytes of waiting answers; a query that would exceed it is searched
   *     segment by segment
   */
  public Ahead(boolean enabled, long mostBytes) {
    this.enabled = enabled;
    this.mostBytes = mostBytes;
  }

  /** Turns sending ahead on or off. */
  public void enable(boolean newEnabled) {
    enabled = newEnabled;
    if (newEnabled == false) {
      forget(flight -> true);
      habits.clear();
    }
  }

  /**
   * Whether an item may belong to a query whose segments were sent ahead, so that its answer may be
   * here. If not, {@link #search} need not be asked for an item that the device does not answer.
   */
  public boolean mayHave(WorkItem item) {
    return enabled && flights.containsKey(Key.of(item));
  }

  /**
   * Answers the single item of a call.
   *
   * @param search answers the item alone, or the item together with the items that are sent ahead
   */
  public WorkResult search(WorkItem item, Search search) throws IOException {
    Request step = enabled ? Request.of(item) : null;
    if (step == null) {
      return alone(item, search);
    }
    Key key = Key.of(item);
    while (true) {
      Flight flight = flights.get(key);
      if (flight == null) {
        int number = begun.getAndIncrement();
        Flight fresh = new Flight(number, step, item, habit(step), memory, mostBytes);
        List<WorkItem> others = others(fresh, item);
        if (flights.putIfAbsent(key, fresh) == null) {
          remember(key, fresh);
          return begin(fresh, others, item, search);
        }
        fresh.release();
      } else if (flight.goesOn(step, item)) {
        return goOn(flight, step, item, search);
      } else {
        end(key, flight);
      }
    }
  }

  /** Returns the items to send ahead. Queries that began long ago are ended to make room. */
  private List<WorkItem> others(Flight fresh, WorkItem item) {
    List<WorkItem> others = fresh.others(item);
    if (others == null) {
      flights.forEach(
          (key, old) -> {
            if (fresh.number() - old.number() >= OVER) {
              end(key, old);
            }
          });
      others = fresh.others(item);
    }
    return others == null ? List.of() : others;
  }

  private Habit habit(Request first) {
    // computeIfAbsent locks even if the key is present
    Habit known = habits.get(first);
    return known == null ? habits.computeIfAbsent(first, unseen -> new Habit()) : known;
  }

  /** Remembers a query; the oldest remembered query is ended to make room. */
  private void remember(Key key, Flight fresh) {
    Key oldest = order.getAndSet(fresh.number() & (MOST_FLIGHTS - 1), key);
    if (oldest != null && oldest.equals(key) == false) {
      Flight flight = flights.get(oldest);
      if (flight != null) {
        end(oldest, flight);
      }
    }
    if (habits.size() > MOST_HABITS) {
      habits.clear();
    }
  }

  private void end(Key key, Flight flight) {
    if (flights.remove(key, flight)) {
      inVain.add(flight.retire());
    }
  }

  private static WorkResult alone(WorkItem item, Search search) throws IOException {
    return search.search(List.of(item), () -> {}).get(0);
  }

  private WorkResult begin(Flight flight, List<WorkItem> others, WorkItem item, Search search)
      throws IOException {
    if (others.isEmpty()) {
      flight.land(List.of());
      return alone(item, search);
    }
    List<WorkItem> items = new ArrayList<>(others.size() + 1);
    items.add(item);
    items.addAll(others);
    List<WorkResult> found = null;
    try {
      found = search.search(items, () -> flight.land(List.of()));
    } catch (IOException | RuntimeException e) {
      // the failure may be another segment's; the call for that segment will report it
    } finally {
      sent.add(flight.land(found == null ? List.of() : found.subList(1, found.size())));
    }
    return found == null ? alone(item, search) : found.get(0);
  }

  private WorkResult goOn(Flight flight, Request step, WorkItem item, Search search)
      throws IOException {
    WorkResult found = flight.take(step, item);
    if (found != null) {
      used.increment();
      search.taken(item);
      return found;
    }
    flight.habit().used(step);
    return alone(item, search);
  }

  /** Forgets a segment that is being closed, or leaves the device. */
  public void closing(SegmentView segment) {
    habits.keySet().removeIf(step -> step.segment().equals(segment));
    habits.values().forEach(habit -> habit.closing(segment));
    forget(flight -> flight.mentions(segment));
  }

  private void forget(Predicate<Flight> which) {
    flights.forEach(
        (key, flight) -> {
          if (which.test(flight) && flights.remove(key, flight)) {
            flight.release();
          }
        });
  }

  /**
   * Returns the number of items that were sent ahead and answered, of those used by a later call,
   * and of those never used.
   */
  public SortedMap<String, Long> totals() {
    return counters.sums();
  }

  /** Returns about how many bytes the answers take that wait for their calls. */
  public long waitingBytes() {
    return memory.get();
  }
}
