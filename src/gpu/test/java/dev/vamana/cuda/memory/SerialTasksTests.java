package dev.vamana.cuda.memory;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests the fate of tasks that the executor does not run. */
public class SerialTasksTests extends LuceneTestCase {

  private final Queue<Runnable> given = new ArrayDeque<>();
  private final List<String> ran = new ArrayList<>();
  private Throwable refusal;
  private final Executor executor =
      task -> {
        if (refusal instanceof Error error) {
          throw error;
        }
        if (refusal != null) {
          throw (RuntimeException) refusal;
        }
        given.add(task);
      };
  private final SerialTasks tasks = new SerialTasks(executor);

  private void runGiven() {
    for (Runnable task; (task = given.poll()) != null; ) {
      task.run();
    }
  }

  private void add(String name, boolean essential) {
    tasks.add(() -> ran.add(name), essential);
  }

  public void testTasksWaitForAThread() {
    refusal = new OutOfMemoryError("unable to create native thread");
    add("a", false);
    add("b", true);
    assertEquals("what is essential runs at once", List.of("b"), ran);
    tasks.addUrgent(() -> ran.add("c"));
    tasks.resume();
    assertEquals(List.of("b"), ran);
    refusal = null;
    if (random().nextBoolean()) {
      tasks.resume();
    } else {
      add("d", false);
      assertEquals(1, given.size());
      tasks.resume();
    }
    assertEquals("one thread", 1, given.size());
    runGiven();
    assertEquals(List.of("b", "c", "a"), ran.subList(0, 3));
    tasks.resume();
    assertEquals("nothing waits", 0, given.size());
  }

  public void testRejectedTasksAreDroppedUnlessEssential() {
    refusal = new RejectedExecutionException();
    add("a", false);
    add("b", true);
    assertEquals(List.of("b"), ran);
    refusal = null;
    add("c", false);
    runGiven();
    assertEquals(List.of("b", "c"), ran);
  }
}
