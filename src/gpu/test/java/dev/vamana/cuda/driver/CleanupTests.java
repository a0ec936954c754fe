package dev.vamana.cuda.driver;

import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.tests.util.LuceneTestCase;

/** Tests that everything is given back, whatever fails. */
public class CleanupTests extends LuceneTestCase {

  private final List<String> done = new ArrayList<>();

  private Runnable action(String name, boolean fails) {
    return () -> {
      done.add(name);
      if (fails) {
        throw new GpuException(GpuException.Kind.FAILED, name);
      }
    };
  }

  public void testAfterAFailureOthersAreSuppressed() {
    Throwable failure = new IllegalStateException("first");
    Cleanup.after(failure, action("a", true), action("b", false), action("c", true));
    assertEquals(List.of("a", "b", "c"), done);
    assertEquals(2, failure.getSuppressed().length);
    assertEquals("a", failure.getSuppressed()[0].getMessage());
    assertEquals("c", failure.getSuppressed()[1].getMessage());
  }

  public void testAllRunAndTheLastFailureIsThrown() {
    Runnable[] actions = {action("a", true), action("b", true), action("c", false)};
    GpuException e = expectThrows(GpuException.class, () -> Cleanup.all(actions));
    assertEquals("b", e.getMessage());
    assertEquals(List.of("a", "b", "c"), done);
    Cleanup.all(action("d", false));
    assertEquals(List.of("a", "b", "c", "d"), done);
  }
}
