package dev.vamana.cuda.memory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;

/**
 * Runs tasks in an executor one after the other, in order. Urgent tasks run before all other tasks
 * that have not begun.
 */
final class SerialTasks {

  private final Executor executor;
  private final Queue<Queued> urgent = new ArrayDeque<>();
  private final Queue<Queued> tasks = new ArrayDeque<>();
  private boolean running;

  private record Queued(Runnable work, boolean essential) {}

  SerialTasks(Executor executor) {
    this.executor = executor;
  }

  /**
   * Queues a task. If it throws, later tasks still run.
   *
   * @param essential whether the calling thread runs the task if the executor rejects it; otherwise
   *     it is dropped
   */
  void add(Runnable work, boolean essential) {
    add(tasks, new Queued(work, essential));
  }

  /** Queues a task before those that are not urgent. */
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

  private void start() {
    try {
      executor.execute(this::run);
    } catch (RejectedExecutionException e) {
      for (Queued task : takeAll()) {
        if (task.essential) {
          task.work.run();
        }
      }
    }
  }

  private synchronized List<Queued> takeAll() {
    List<Queued> all = new ArrayList<>(urgent);
    all.addAll(tasks);
    urgent.clear();
    tasks.clear();
    running = false;
    return all;
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
