package dev.vamana.cuda.devices;

import dev.vamana.search.SegmentView;
import dev.vamana.search.WorkItem;
import dev.vamana.search.WorkResult;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.lucene.util.IOUtils;

/**
 * Sends the parts of a call to their devices at once and puts the results together. The calling
 * thread takes the last part, others wait on threads of their own, one for each device beyond the
 * first of each call under way. {@link DevicesExecutor} has one.
 */
final class Calls implements Closeable {

  private static final long KEEP_ALIVE_SECONDS = 60;

  private final Placements placements;
  private final int divided;
  private final ExecutorService threads;

  /**
   * Makes calls.
   *
   * @param divided as of {@link DevicesExecutor.Spread#divided}
   */
  Calls(Placements placements, int divided) {
    this.placements = placements;
    this.divided = divided;
    AtomicLong number = new AtomicLong();
    threads =
        new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            KEEP_ALIVE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            task -> {
              Thread thread = new Thread(task, "vamana-gpu-call-" + number.incrementAndGet());
              thread.setDaemon(true);
              return thread;
            });
  }

  /** The part of a call that goes to a device. */
  private static final class Part {
    private final Member member;
    private final List<Integer> positions = new ArrayList<>();

    Part(Member member) {
      this.member = member;
    }
  }

  /** Answers a call. The second half of a large one goes to the copies of its segments. */
  List<WorkResult> search(List<WorkItem> batch) throws IOException {
    Map<Member, Part> parts = new LinkedHashMap<>();
    boolean large = batch.size() >= divided;
    SegmentView view = null;
    Part part = null;
    for (int i = 0; i < batch.size(); i++) {
      WorkItem item = batch.get(i);
      boolean half = large && i == batch.size() / 2;
      if (half || item.segment().equals(view) == false) {
        view = item.segment();
        Member copy = large && i >= batch.size() / 2 ? placements.copyOf(view) : null;
        part = parts.computeIfAbsent(copy == null ? placements.of(view) : copy, Part::new);
      }
      part.positions.add(i);
    }
    if (large && parts.size() == 1 && placements.copiesAsked() == false) {
      placements.wantCopies(batch.stream().map(WorkItem::segment).distinct().toList());
    }
    return run(List.copyOf(parts.values()), batch);
  }

  /** A failure of a part, carried to the calling thread. */
  private static final class PartFailed extends RuntimeException {
    private static final long serialVersionUID = 1;

    PartFailed(IOException cause) {
      super(cause);
    }
  }

  /** Answers a call of one part. */
  private static List<WorkResult> run(Part part, List<WorkItem> items) throws IOException {
    part.member.items().add(items.size());
    return part.member.executor().search(items);
  }

  /**
   * Answers all parts, and waits for the last also if one fails.
   *
   * @throws IOException the first failure; others are suppressed
   */
  private List<WorkResult> run(List<Part> parts, List<WorkItem> batch) throws IOException {
    if (parts.size() == 1) {
      return run(parts.get(0), batch);
    }
    WorkResult[] results = new WorkResult[batch.size()];
    Object lock = new Object();
    List<CompletableFuture<Void>> others = new ArrayList<>();
    for (Part part : parts.subList(0, parts.size() - 1)) {
      others.add(start(() -> run(part, batch, lock, results)));
    }
    Throwable failure = null;
    try {
      run(parts.get(parts.size() - 1), batch, lock, results);
    } catch (Throwable e) {
      failure = e;
    }
    for (CompletableFuture<Void> other : others) {
      try {
        other.join();
      } catch (CompletionException e) {
        if (failure == null) {
          failure = e.getCause();
        } else if (failure.equals(e.getCause()) == false) {
          failure.addSuppressed(e.getCause());
        }
      }
    }
    rethrow(failure);
    return Arrays.asList(results);
  }

  private static void rethrow(Throwable failure) throws IOException {
    if (failure instanceof PartFailed part) {
      IOException cause = (IOException) part.getCause();
      Arrays.stream(part.getSuppressed()).forEach(cause::addSuppressed);
      throw cause;
    }
    if (failure != null) {
      throw IOUtils.rethrowAlways(failure);
    }
  }

  private CompletableFuture<Void> start(Runnable part) {
    try {
      return CompletableFuture.runAsync(part, threads);
    } catch (RejectedExecutionException | OutOfMemoryError e) {
      // the executor is closing, or the machine has no room for another thread
      return CompletableFuture.runAsync(part, Runnable::run);
    }
  }

  private static void run(Part part, List<WorkItem> batch, Object lock, WorkResult[] results) {
    // the items of a call may share what is asked for cancelling, and parts ask at the same time
    List<WorkItem> items =
        WorkItem.askedOneAtATime(part.positions.stream().map(batch::get).toList(), lock);
    List<WorkResult> found;
    try {
      found = run(part, items);
    } catch (IOException e) {
      throw new PartFailed(e);
    }
    for (int i = 0; i < found.size(); i++) {
      results[part.positions.get(i)] = found.get(i);
    }
  }

  @Override
  public void close() {
    threads.shutdown();
  }
}
