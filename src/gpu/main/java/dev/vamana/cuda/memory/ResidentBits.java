package dev.vamana.cuda.memory;

import dev.vamana.vectors.ArrayCopy;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.WeakReference;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;

/**
 * Bits of accepted ordinals beside a segment on the device, which stay there from one call to the
 * next: live documents are copied once, as long as a reader passes the same instance, and so is a
 * filter that repeats. A segment has {@value #PLACES} places, in the segment's own memory.
 * Thread-safe.
 */
public final class ResidentBits {

  /** For live documents and for a filter, or for the live documents before and after a refresh. */
  public static final int PLACES = 2;

  private static final WeakReference<Bits> NOTHING = new WeakReference<>(null);

  private final Place[] places = new Place[PLACES];
  private long now;

  /**
   * Makes empty places.
   *
   * @param address device address of the first place
   * @param bytes bytes of a place, at least a bit for each ordinal
   */
  public ResidentBits(long address, long bytes) {
    for (int i = 0; i < PLACES; i++) {
      places[i] = new Place(address + i * bytes);
    }
  }

  /** Returns the bytes of a bit for each of {@code size} ordinals, in whole words. */
  public static long bytes(int size) {
    return (long) FixedBitSet.bits2words(size) * Long.BYTES;
  }

  /**
   * Writes accepted ordinals as 64-bit words in ascending order.
   *
   * @param size number of ordinals
   * @param target {@link #bytes} of native memory
   */
  public static void write(Bits accepted, int size, MemorySegment target) {
    int words = FixedBitSet.bits2words(size);
    if (accepted instanceof FixedBitSet own && own.getBits().length >= words) {
      ArrayCopy.toMemory(own.getBits(), 0, target, 0, words);
      return;
    }
    for (int word = 0; word < words; word++) {
      long value = 0;
      for (int o = word << 6, end = Math.min(size, o + 64); o < end; o++) {
        if (accepted.get(o)) {
          value |= 1L << o;
        }
      }
      target.setAtIndex(ValueLayout.JAVA_LONG, word, value);
    }
  }

  /** A place, for its users. Each user has to call {@link #release} once. */
  public final class Place {
    private final long address;
    // cleared while nothing is there, or something unknown
    private WeakReference<Bits> bits = NOTHING;
    private int users;
    private long used;

    private Place(long address) {
      this.address = address;
    }

    /** Returns the device address of the bits, 64-bit words in ascending order. */
    public long address() {
      return address;
    }

    /** Says that the only user has copied bits to a place that {@link #reserve} has returned. */
    public void filled(Bits copied) {
      synchronized (ResidentBits.this) {
        bits = new WeakReference<>(copied);
      }
    }

    /** Ends a use. Nothing on the device reads or writes the place for it any more. */
    public void release() {
      synchronized (ResidentBits.this) {
        users--;
      }
    }
  }

  /**
   * Returns the place that has bits, for one more user, or null.
   *
   * @param wanted the same object as was copied, not an equal one
   */
  public synchronized Place find(Bits wanted) {
    for (Place place : places) {
      if (place.bits.refersTo(wanted)) {
        return use(place);
      }
    }
    return null;
  }

  /** Returns the place without users that was not used for longest, empty; or null. */
  public synchronized Place reserve() {
    Place oldest = null;
    for (Place place : places) {
      if (place.users == 0 && (oldest == null || place.used < oldest.used)) {
        oldest = place;
      }
    }
    if (oldest == null) {
      return null;
    }
    oldest.bits = NOTHING;
    return use(oldest);
  }

  private Place use(Place place) {
    place.users++;
    place.used = ++now;
    return place;
  }
}
