package dev.vamana.search;

import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** A CPU executor that records its items. */
class RecordingExecutor implements SearchExecutor {

  final Queue<WorkItem> items = new ConcurrentLinkedQueue<>();
  private final CpuExecutor in = new CpuExecutor(Workers.callingThread());
  volatile int closed;

  @Override
  public String name() {
    return "recording";
  }

  @Override
  public List<WorkResult> search(List<WorkItem> batch) throws IOException {
    items.addAll(batch);
    return in.search(batch);
  }

  @Override
  public synchronized void close() {
    closed++;
  }
}
