package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.lane.DeviceResult;
import dev.vamana.cuda.lane.Ticket;
import dev.vamana.cuda.memory.ResidentSegment;
import dev.vamana.search.WorkItem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.lucene.util.IOUtils;

/** The ticket of a {@link FetchLane}: items of one call with the same {@link FetchShape}. */
public final class FetchTicket extends Ticket {

  private final FetchShape shape;
  private final FetchSlot[] slots;

  /**
   * Makes a ticket of the calling thread, and holds the segments.
   *
   * @param shape the shape of all items
   * @param indices indices of the items in their call
   * @param segments the segment of each item, with its codes on the device
   */
  public FetchTicket(
      FetchShape shape, int[] indices, List<WorkItem> items, List<ResidentSegment> segments) {
    super(hold(segments), indices);
    this.shape = shape;
    this.slots = new FetchSlot[items.size()];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = new FetchSlot(items.get(i), segments.get(i), this::left);
    }
  }

  FetchShape shape() {
    return shape;
  }

  FetchSlot[] slots() {
    return slots;
  }

  @Override
  public void unwanted(int i) {
    slots[i].unwanted();
  }

  @Override
  protected boolean brief() {
    // the threads that fetch need the processors
    return false;
  }

  @Override
  public DeviceResult result(int i) throws IOException {
    Exception failure = slots[i].failure();
    if (failure instanceof UncheckedIOException unchecked) {
      throw unchecked.getCause();
    }
    if (failure != null) {
      throw IOUtils.rethrowAlways(failure);
    }
    return slots[i].result;
  }
}
