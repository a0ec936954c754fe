package dev.vamana.cuda.hostfetch;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.driver.GpuException;
import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.work.Threads;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.apache.lucene.store.AlreadyClosedException;

/**
 * Searches segments placed as {@link dev.vamana.cuda.memory.Placement#HOST_FETCH}: only codes are
 * on the device, and the CPU fetches the neighbours of every step (BANG base, section 3.2).
 *
 * <p>One thread drives the device, on its own streams, so that it does not delay other launches.
 * Items of the same shape that are submitted while the thread is busy are walked together next.
 */
public final class HostFetch {

  private final CudaDriver driver;
  private final FetchOptions options;
  private final SessionHostMemory account;
  private final Consumer<GpuException> onLost;
  private final GatherTeam team;
  private final OpenSegments segments = new OpenSegments();
  private final ArrayDeque<Job> inbox = new ArrayDeque<>();
  private final LongAdder batches = new LongAdder();
  private final LongAdder walked = new LongAdder();
  private final Thread thread;
  private FetchBatch batch;
  private boolean started;
  private boolean closing;
  private GpuException lost;

  /** Items of one call and shape. */
  private record Job(FetchCall call, FetchShape shape, List<FetchSlot> slots) {}

  /**
   * Makes an instance. The first items create its streams, memory and threads.
   *
   * @param onLost called once by the driving thread, as its last act, if the context is lost
   */
  public HostFetch(CudaDriver driver, FetchOptions options, Consumer<GpuException> onLost) {
    this(driver, options, new SessionHostMemory(HostMemoryAccount.UNLIMITED), onLost);
  }

  /**
   * Makes an instance. The first items create its streams, memory and threads.
   *
   * @param account counts pinned memory; a batch fails with {@code OUT_OF_MEMORY} if it refuses
   * @param onLost called once by the driving thread, as its last act, if the context is lost
   */
  public HostFetch(
      CudaDriver driver,
      FetchOptions options,
      SessionHostMemory account,
      Consumer<GpuException> onLost) {
    this.driver = driver;
    this.account = account;
    this.options = options;
    this.onLost = onLost;
    this.team = new GatherTeam(options.threads());
    this.thread = new Thread(this::drive, "vamana-gpu-host-fetch");
    thread.setDaemon(true);
  }

  /** Whether this class can walk an item. */
  public static boolean supports(WorkItem item) throws IOException {
    return FetchShape.of(item) != null;
  }

  /**
   * Submits items; {@link FetchCall#await} returns the results.
   *
   * @param items items that {@link #supports} accepts; the caller holds their segments until the
   *     call is done
   */
  public FetchCall submit(List<FetchItem> items) throws IOException {
    FetchSlot[] slots = new FetchSlot[items.size()];
    Map<FetchShape, List<FetchSlot>> shapes = new LinkedHashMap<>();
    WorkItem last = null;
    FetchShape shape = null;
    for (int i = 0; i < slots.length; i++) {
      WorkItem item = items.get(i).item();
      if (last == null || alike(last, item) == false) {
        shape = FetchShape.of(item);
        last = item;
        if (shape == null) {
          throw new IllegalArgumentException(
              "items of " + item.segment().name() + " cannot be walked with host fetch");
        }
      }
      slots[i] = new FetchSlot(items.get(i));
      shapes.computeIfAbsent(shape, unseen -> new ArrayList<>()).add(slots[i]);
    }
    FetchCall call = new FetchCall(slots, shapes.size());
    synchronized (inbox) {
      if (lost == null && closing == false) {
        shapes.forEach((each, own) -> inbox.add(new Job(call, each, own)));
        if (started == false) {
          started = true;
          thread.start();
        }
        inbox.notifyAll();
        return call;
      }
    }
    GpuException why =
        lost != null ? lost : new GpuException(GpuException.Kind.CONTEXT_LOST, "host fetch ended");
    shapes.forEach((each, own) -> call.complete(why));
    return call;
  }

  @SuppressWarnings("ReferenceEquality") // an open segment has one view object
  private static boolean alike(WorkItem a, WorkItem b) {
    return a.segment() == b.segment()
        && a.walk().equals(b.walk())
        && a.entryPoints().length == b.entryPoints().length;
  }

  /**
   * Stops reading a segment's files. On return no thread reads them, and calls that wait for items
   * of the segment fail with an {@link AlreadyClosedException}.
   */
  public void closing(SegmentView view) {
    segments.close(view);
  }

  /** Returns the number of batches walked. */
  public long batches() {
    return batches.sum();
  }

  /** Returns the number of items walked. */
  public long items() {
    return walked.sum();
  }

  /** Stops the threads after everything submitted is done. */
  public void stop() {
    synchronized (inbox) {
      closing = true;
      inbox.notifyAll();
    }
    Threads.join(thread);
    team.close();
  }

  /** Frees everything after {@link #stop}. The calling thread is bound to the driver. */
  public void free() {
    if (batch != null) {
      batch.free();
    }
  }

  private void drive() {
    try {
      driver.bind();
      for (List<Job> jobs = take(); jobs.isEmpty() == false; jobs = take()) {
        run(jobs);
      }
    } catch (GpuException e) {
      lose(e);
    } catch (RuntimeException | Error e) {
      lose(new GpuException(GpuException.Kind.CONTEXT_LOST, "host fetch failed: " + e, e));
    }
  }

  /**
   * Waits for jobs. Returns the oldest job and others of its shape, or an empty list when closing.
   */
  private List<Job> take() {
    synchronized (inbox) {
      while (inbox.isEmpty()) {
        if (closing) {
          return List.of();
        }
        try {
          inbox.wait();
        } catch (InterruptedException e) {
          // no code interrupts this thread
        }
      }
      List<Job> taken = new ArrayList<>();
      FetchShape shape = inbox.peek().shape();
      int items = 0;
      for (Job job : inbox) {
        boolean fits = taken.isEmpty() || items + job.slots().size() <= options.maxBatch();
        if (fits && job.shape().equals(shape)) {
          taken.add(job);
          items += job.slots().size();
        }
      }
      inbox.removeAll(taken);
      return taken;
    }
  }

  private void run(List<Job> jobs) {
    GpuException failure = null;
    try {
      if (batch == null) {
        batch = new FetchBatch(driver, options, team, account);
      }
      FetchShape shape = jobs.get(0).shape();
      List<FetchSlot> slots = open(jobs, shape);
      int from = 0;
      while (from < slots.size()) {
        int to = Math.min(slots.size(), from + options.maxBatch());
        FetchLayout layout = FetchLayout.of(shape, slots.subList(from, to));
        to = Math.min(to, from + layout.fitting(options.stateBytes()));
        FetchSlot[] part = slots.subList(from, to).toArray(FetchSlot[]::new);
        batch.run(part, layout, segments::drop);
        batches.increment();
        walked.add(part.length);
        from = to;
      }
    } catch (GpuException e) {
      failure = e;
    } catch (RuntimeException | Error e) {
      failure = new GpuException(GpuException.Kind.CONTEXT_LOST, "host fetch failed: " + e, e);
    }
    if (failure != null && failure.contextLost() == false) {
      failure = recover(failure);
    }
    segments.end();
    for (Job job : jobs) {
      job.call().complete(failure);
    }
    if (failure != null && failure.contextLost()) {
      throw failure;
    }
  }

  /** Opens the files of all slots. Slots whose files cannot be opened fail and are left out. */
  private List<FetchSlot> open(List<Job> jobs, FetchShape shape) {
    IdentityHashMap<SegmentView, SegmentFiles> files = new IdentityHashMap<>();
    List<FetchSlot> slots = new ArrayList<>();
    for (Job job : jobs) {
      for (FetchSlot slot : job.slots()) {
        SegmentView view = slot.item().segment();
        try {
          SegmentFiles opened = files.get(view);
          if (opened == null) {
            if (segments.begin(view) == false) {
              throw new AlreadyClosedException(view.name() + " was closed");
            }
            opened = new SegmentFiles(view, shape, options.threads());
            files.put(view, opened);
          }
          slot.files(opened);
          slots.add(slot);
        } catch (IOException | RuntimeException e) {
          slot.fail(e);
        }
      }
    }
    return slots;
  }

  /**
   * Waits until nothing of a failed batch runs any more.
   *
   * @return the failure to report; with the context lost if waiting failed
   */
  private GpuException recover(GpuException e) {
    try {
      if (batch != null) {
        batch.drain();
      }
      return e;
    } catch (GpuException again) {
      again.addSuppressed(e);
      return again.contextLost()
          ? again
          : new GpuException(GpuException.Kind.CONTEXT_LOST, again.getMessage(), again);
    }
  }

  private void lose(GpuException e) {
    List<Job> left;
    synchronized (inbox) {
      lost = e;
      left = new ArrayList<>(inbox);
      inbox.clear();
    }
    segments.end();
    left.forEach(job -> job.call().complete(e));
    onLost.accept(e);
  }
}
