package dev.vamana.cuda.devices;

import dev.vamana.cuda.kernel.SharedLayout;
import dev.vamana.search.DevicePresence;
import dev.vamana.search.SegmentView;
import dev.vamana.vectors.FileRegion;
import org.apache.lucene.index.VectorEncoding;

/**
 * An open segment and its device. Searches read it; {@link Placements} changes it under its lock.
 */
final class Placed {

  private static final int NONE = -1;

  final SegmentView view;

  /** Whether the segment is kept on its device. */
  volatile boolean kept;

  /** The device that has the segment while it is usable. */
  private int home;

  private volatile int device;
  private volatile int next = NONE;
  private volatile int copy = NONE;
  private volatile boolean copyWanted;
  private final long estimate;
  private long bytes;

  Placed(SegmentView view, int home) {
    this.view = view;
    this.home = home;
    this.device = home;
    this.estimate = estimate(view);
    this.bytes = estimate;
  }

  /** Returns the bytes of graph or lists as they are in the file, and of vectors in padded rows. */
  static long estimate(SegmentView view) {
    int component = view.encoding() == VectorEncoding.BYTE ? Byte.BYTES : Float.BYTES;
    int row = SharedLayout.up16(view.dimension() * component);
    FileRegion index = view.hasLists() ? view.lists().region() : view.graphRegion();
    return (index == null ? 0 : index.length()) + (long) view.size() * row;
  }

  /** Returns the device that has the segment while it is usable. */
  int home() {
    return home;
  }

  /** Returns the device that answers. */
  int device() {
    return device;
  }

  /** Whether the segment is being uploaded to another device. */
  boolean moves() {
    return next != NONE;
  }

  /** Returns the device to which the segment is being uploaded, or else the one that answers. */
  int heading() {
    int to = next;
    return to == NONE ? device : to;
  }

  /** Begins a move. A copy on the new device becomes the segment, a copy elsewhere is gone. */
  void moveTo(int to) {
    dropCopy();
    next = to;
  }

  /** Whether another device has the segment too, or gets it. */
  boolean hasCopy() {
    return copy != NONE;
  }

  /** Returns the device that has the copy or gets it, or -1. */
  int copy() {
    return copy;
  }

  /** Wants a copy: a large call had to go to one device. */
  void wantCopy() {
    copyWanted = true;
  }

  /** Whether a copy is wanted that is not there and not on its way. */
  boolean lacksCopy() {
    return copyWanted && copy == NONE && next == NONE;
  }

  /** Begins a copy on a device. */
  void copyTo(int to) {
    copy = to;
  }

  /** Forgets the copy; the next large call asks for another one. */
  void dropCopy() {
    copy = NONE;
    copyWanted = false;
  }

  /** Ends a move: the new device answers. */
  void arrived() {
    // in this order, so that a reader that sees no move sees the new device
    device = next;
    next = NONE;
  }

  /** Gives a move up. */
  void stays() {
    home = device;
    next = NONE;
  }

  /** Returns the device memory that the segment takes, or an estimate. */
  long bytes() {
    return bytes;
  }

  void measure(DevicePresence presence) {
    bytes =
        presence.state() == DevicePresence.State.RESIDENT && presence.deviceBytes() > 0
            ? presence.deviceBytes()
            : estimate;
  }
}
