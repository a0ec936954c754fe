package dev.vamana.cuda.regime;

import dev.vamana.cuda.count.Places;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * What threads answer by themselves, and since when they have been at it. Where there are more of
 * them than processors, a thread may be stopped for longer than a window in the middle of an answer
 * of microseconds. Such an answer counts in every window in which it was under way: if it counted
 * when it has ended, 64 threads would look like 2 in one window, and like 60 in the next.
 *
 * <p>Each thread has a {@linkplain Places place}. Threads that share one may overwrite each other's
 * sums. Thread-safe.
 */
final class OwnTimes {

  private static final int COUNT = 0;
  private static final int WORK = 1;
  private static final int FAVOURED = 2;
  private static final int WAITED = 3;
  private static final int SINCE = 4;
  private static final int UNDER_WAY = 5;

  private static final VarHandle NUMBERS = MethodHandles.arrayElementVarHandle(long[].class);

  private final long[] places = Places.make();

  /** Notes that the calling thread begins an answer. Returns {@link Places#own}. */
  int begin(long now) {
    int place = Places.own();
    NUMBERS.setOpaque(places, place + SINCE, now);
    NUMBERS.setRelease(places, place + UNDER_WAY, 1L);
    return place;
  }

  /** Notes that the thread of a place has ended the answer. */
  void end(int place, long work, long favoured, long since, long now) {
    NUMBERS.setOpaque(places, place + UNDER_WAY, 0L);
    add(place + COUNT, 1);
    add(place + WORK, work);
    add(place + FAVOURED, favoured);
    add(place + WAITED, now - since);
  }

  private void add(int at, long more) {
    NUMBERS.setOpaque(places, at, (long) NUMBERS.getOpaque(places, at) + more);
  }

  /** Returns the sums until a moment, with the times of the answers under way. */
  Window until(long now) {
    long count = 0;
    long work = 0;
    long favoured = 0;
    long waited = 0;
    for (int place = 0; place < places.length; place += Places.APART) {
      count += (long) NUMBERS.getOpaque(places, place + COUNT);
      work += (long) NUMBERS.getOpaque(places, place + WORK);
      favoured += (long) NUMBERS.getOpaque(places, place + FAVOURED);
      waited += (long) NUMBERS.getOpaque(places, place + WAITED);
      if ((long) NUMBERS.getAcquire(places, place + UNDER_WAY) != 0) {
        waited += Math.max(0, now - (long) NUMBERS.getOpaque(places, place + SINCE));
      }
    }
    return new Window(now, count, work, favoured, waited);
  }
}
