package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.lane.BatchLane;
import dev.vamana.cuda.lane.SpareProcessors;
import dev.vamana.cuda.lane.Team;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.Lease;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.search.SegmentView;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.apache.lucene.store.AlreadyClosedException;

/**
 * The lane of segments placed as {@link dev.vamana.cuda.memory.Placement#HOST_FETCH}: only codes
 * are on the device, and the CPU fetches the neighbours of every step (BANG base, section 3.2). It
 * has streams of its own, so that it does not delay other launches.
 */
public final class FetchLane extends BatchLane<FetchTicket> {

  private final FetchOptions options;
  private final SessionHostMemory account;
  private final DeviceBudget budget;
  private final Team team;
  // segments whose files the batch reads
  private final Map<Lease, SegmentFiles> reading = new HashMap<>();
  private FetchBatch batch;

  /**
   * Makes an instance. The first items create its streams, memory and threads.
   *
   * @param account counts pinned memory; a batch fails with {@code OUT_OF_MEMORY} if it refuses
   * @param budget counts device memory, alike
   * @param onLost called once by the lane's thread, as its last act, if the context is lost
   */
  public FetchLane(
      CudaDriver driver,
      FetchOptions options,
      SessionHostMemory account,
      DeviceBudget budget,
      Consumer<GpuException> onLost) {
    // its threads wait for the device as the driver does
    super("vamana-gpu-host-fetch", driver, onLost, SpareProcessors.always());
    this.account = account;
    this.budget = budget;
    this.options = options;
    this.team = new Team("vamana-gpu-gather", options.threads() - 1);
  }

  @Override
  protected boolean alike(FetchTicket first, FetchTicket ticket) {
    return ticket.shape().equals(first.shape());
  }

  @Override
  protected int maxBatch() {
    return options.maxBatch();
  }

  @Override
  public void stop() {
    super.stop();
    team.stop();
  }

  @Override
  public void free() {
    if (batch != null) {
      batch.free();
    }
  }

  @Override
  protected void search(List<FetchTicket> tickets) {
    try {
      if (batch == null) {
        batch = new FetchBatch(driver(), team, account, budget);
      }
      FetchShape shape = tickets.get(0).shape();
      List<FetchSlot> slots = open(tickets);
      int from = 0;
      while (from < slots.size()) {
        int to = Math.min(slots.size(), from + options.maxBatch());
        FetchLayout layout = FetchLayout.of(shape, slots.subList(from, to));
        to = Math.min(to, from + layout.fitting(options.stateBytes()));
        FetchSlot[] part = slots.subList(from, to).toArray(FetchSlot[]::new);
        batch.run(part, layout, () -> dropClosing(slots));
        from = to;
      }
    } catch (RuntimeException | Error e) {
      throw failed(e, this::drain);
    } finally {
      reading.keySet().forEach(Lease::endReading);
      reading.clear();
    }
  }

  /** Opens the files of all slots. Slots whose files cannot be opened fail and are left out. */
  private List<FetchSlot> open(List<FetchTicket> tickets) {
    List<FetchSlot> slots = new ArrayList<>();
    for (FetchTicket ticket : tickets) {
      for (FetchSlot slot : ticket.slots()) {
        Lease lease = slot.segment.lease();
        try {
          SegmentFiles opened = reading.get(lease);
          if (opened == null) {
            opened = open(lease);
          }
          slot.files = opened;
          slots.add(slot);
        } catch (IOException | RuntimeException e) {
          slot.fail(e);
        }
      }
    }
    return slots;
  }

  private SegmentFiles open(Lease lease) throws IOException {
    if (lease.beginReading() == false) {
      throw closed(lease.view());
    }
    try {
      SegmentFiles opened = new SegmentFiles(lease.view(), options.threads());
      reading.put(lease, opened);
      return opened;
    } catch (Throwable e) {
      lease.endReading();
      throw e;
    }
  }

  private static AlreadyClosedException closed(SegmentView view) {
    return new AlreadyClosedException(view.name() + " was closed while it was searched");
  }

  /** Fails slots whose segments are being closed. Called while no thread reads files. */
  private void dropClosing(List<FetchSlot> slots) {
    for (Iterator<Lease> leases = reading.keySet().iterator(); leases.hasNext(); ) {
      Lease lease = leases.next();
      if (lease.closing() == false) {
        continue;
      }
      for (FetchSlot slot : slots) {
        if (slot.segment.lease().equals(lease)) {
          slot.fail(closed(lease.view()));
        }
      }
      leases.remove();
      lease.endReading();
    }
  }

  private void drain() {
    if (batch != null) {
      batch.drain();
    }
  }
}
