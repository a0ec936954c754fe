package dev.vamana.cuda.memory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Runs tasks in an executor one after the other, in order. Urgent tasks run before all other tasks
 * that have not begun. If the executor cannot start a thread, they wait for the next task or {@link
 * #resume}.
 */
final class SerialTasks {

  private final Executor executor;
  private final Queue<Queued> urgent = new ArrayDeque<>();
  private final Queue<Queued> tasks = new ArrayDeque<>();
  private boolean running;
  // whether tasks wait since the executor could not start a thread; each search looks
  private volatile boolean stalled;

  private record Queued(Runnable work, boolean essential) {}

  SerialTasks(Executor executor) {
    this.executor = executor;
  }

  /**
   * Queues a task. If it throws, later tasks still run.
   *
   * @param essential whether the calling thread runs the task if the executor rejects it or cannot
   *     start a thread; otherwise a rejected one is dropped
   */
  void add(Runnable work, boolean essential) {
    add(tasks, new Queued(work, essential));
  }

  /** Queues a task before the tasks that are not urgent. */
  void addUrgent(Runnable work) {
    add(urgent, new Queued(work, false));
  }

  private void add(Queue<Queued> queue, Queued task) {
    synchronized (this) {
      queue.add(task);
      if (running) {
        return;
      }
      running = true;
    }
    start();
  }

  /** Runs tasks that wait since the executor could not start a thread. */
  void resume() {
    if (stalled == false) {
      return;
    }
    synchronized (this) {
      stalled = false;
      if (running || (urgent.isEmpty() && tasks.isEmpty())) {
        return;
      }
      running = true;
    }
    start();
  }

  private void start() {
    try {
      executor.execute(this::run);
    } catch (RejectedExecutionException e) {
      takeEssential(true).forEach(Runnable::run);
    } catch (OutOfMemoryError e) {
      takeEssential(false).forEach(Runnable::run);
      stalled = true;
    }
  }

  private synchronized List<Runnable> takeEssential(boolean dropOthers) {
    List<Runnable> essential = new ArrayList<>();
    for (Queue<Queued> queue : List.of(urgent, tasks)) {
      queue.stream().filter(Queued::essential).map(Queued::work).forEach(essential::add);
      queue.removeIf(task -> dropOthers || task.essential);
    }
    running = false;
    return essential;
  }

  private void run() {
    boolean finished = false;
    try {
      for (Queued task = next(); task != null; task = next()) {
        task.work.run();
      }
      finished = true;
    } finally {
      if (finished == false) {
        start();
      }
    }
  }

  private synchronized Queued next() {
    Queued task = urgent.isEmpty() ? tasks.poll() : urgent.poll();
    running = task != null;
    return task;
  }
}
