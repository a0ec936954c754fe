package dev.vamana.cuda.devices;

import dev.vamana.cuda.kernel.SharedLayout;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import dev.vamana.vectors.FileRegion;
import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.index.VectorEncoding;

/**
 * An open segment and the devices that it belongs to. Searches read it; {@link Placements} changes
 * it under its lock.
 */
final class Placed {

  /**
   * Where a segment is.
   *
   * @param copies devices that it belongs to, bit <i>d</i> for device <i>d</i>; at least one
   * @param leaving devices that answer until the copies are uploaded
   */
  record Where(long copies, long leaving) {
    long all() {
      return copies | leaving;
    }
  }

  final SegmentView view;
  final LongAdder work = new LongAdder();
  private final long estimate;
  private volatile Where where;
  private volatile boolean kept;
  private long bytes;
  private double load;
  private int rests;
  private long gone;

  Placed(SegmentView view) {
    this.view = view;
    this.estimate = estimate(view);
    this.bytes = estimate;
  }

  /** Bytes of graph or lists as they are in the file, and of vectors with padded rows. */
  private static long estimate(SegmentView view) {
    int component = view.encoding() == VectorEncoding.BYTE ? Byte.BYTES : Float.BYTES;
    int row = SharedLayout.up16(view.dimension() * component);
    FileRegion index = view.hasLists() ? view.lists().region() : view.graphRegion();
    return (index == null ? 0 : index.length()) + (long) view.size() * row;
  }

  Where where() {
    return where;
  }

  void where(long copies, long leaving) {
    where = new Where(copies, leaving);
  }

  boolean kept() {
    return kept;
  }

  void kept(boolean wanted) {
    kept = wanted;
  }

  /** Device memory of a copy: what one takes now, or an estimate. */
  long bytes() {
    return bytes;
  }

  void measure(DevicePresence presence) {
    bytes =
        presence.state() == DevicePresence.State.RESIDENT && presence.deviceBytes() > 0
            ? presence.deviceBytes()
            : estimate;
  }

  /** Decayed work per second. */
  double load() {
    return load;
  }

  /**
   * Adds the work since the last time.
   *
   * @param decay what the load of before counts now, 0 to 1
   */
  void decay(double decay, double seconds) {
    load = decay * load + (1 - decay) * work.sumThenReset() / seconds;
    rests = Math.max(0, rests - 1);
  }

  /** Notes that a device was told to forget the segment. */
  void goes(int device) {
    gone |= 1L << device;
  }

  /** Whether a device was told to forget the segment, and has to be told of it again. */
  boolean comesBack(int device) {
    boolean was = (gone >>> device & 1) != 0;
    gone &= ~(1L << device);
    return was;
  }

  /** Makes the segment stay where it is for some rounds. */
  void rest(int rounds) {
    rests = rounds;
  }

  boolean rests() {
    return rests > 0;
  }
}
