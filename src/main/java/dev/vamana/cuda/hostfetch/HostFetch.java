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
 * Searches segments of which only the codes are on the device: the CPU fetches the neighbours for
 * every step (BANG base, section 3.2).
 *
 * <p>One thread drives the device, on streams of its own, so that launches of others are not held
 * up. What was submitted while it was busy, and is of one shape, is walked together.
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
   * Makes one without streams, memory and running threads: the first items bring them.
   *
   * @param onLost called once by the driving thread, as its last act, if the context is lost
   */
  public HostFetch(CudaDriver driver, FetchOptions options, Consumer<GpuException> onLost) {
    this(driver, options, new SessionHostMemory(HostMemoryAccount.UNLIMITED), onLost);
  }

  /**
   * Makes one without streams, memory and running threads: the first items bring them.
   *
   * @param account counts pinned memory; what it refuses fails batches for want of memory
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

  /** Whether an item can be walked here. */
  public static boolean supports(WorkItem item) throws IOException {
    return FetchShape.of(item) != null;
  }

  /**
   * Hands items over; {@link FetchCall#await} gives the results.
   *
   * @param items such as {@link #supports} takes; their segments have their codes on the device and
   *     are held until the call is done
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
        lost != null ? lost : new GpuException(GpuException.Kind.UNAVAILABLE, "host fetch ended");
    shapes.forEach((each, own) -> call.complete(why));
    return call;
  }

  @SuppressWarnings("ReferenceEquality") // views are the same while a segment is open
  private static boolean alike(WorkItem a, WorkItem b) {
    return a.segment() == b.segment()
        && a.walk().equals(b.walk())
        && a.entryPoints().length == b.entryPoints().length;
  }

  /**
   * Lets nobody read a segment's files any more; nobody does when this returns, and calls that wait
   * for it end with an {@link AlreadyClosedException}.
   */
  public void closing(SegmentView view) {
    segments.close(view);
  }

  /** Batches walked so far. */
  public long batches() {
    return batches.sum();
  }

  /** Items walked so far. */
  public long items() {
    return walked.sum();
  }

  /** Ends the threads once all that was submitted is done. */
  public void stop() {
    synchronized (inbox) {
      closing = true;
      inbox.notifyAll();
    }
    Threads.join(thread);
    team.close();
  }

  /** Frees everything after {@link #stop}; the calling thread is bound to the driver. */
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

  /** Waits for jobs; the oldest and those of its shape, or none if there will be none. */
  private List<Job> take() {
    synchronized (inbox) {
      while (inbox.isEmpty()) {
        if (closing) {
          return List.of();
        }
        try {
          inbox.wait();
        } catch (InterruptedException e) {
          // nobody interrupts this thread
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

  /** Opens the files of all slots; those that cannot be opened get failures and are left out. */
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

  /** Makes sure that nothing of a failed batch runs any more. */
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
