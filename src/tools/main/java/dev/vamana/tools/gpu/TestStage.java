package dev.vamana.tools.gpu;

import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Request;
import org.junit.runner.Runner;
import org.junit.runner.manipulation.Filter;
import org.junit.runner.manipulation.NoTestsRemainException;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/**
 * Runs tests that need a device, and records the outcome of each.
 *
 * @param classes names of test classes that the suite contains
 * @param part number of this part, from 0; tests are divided among the parts by their methods'
 *     names
 * @param parts number of parts, which processes may run in parallel
 */
record TestStage(List<String> classes, int part, int parts) implements Stage {

  TestStage(List<String> classes) {
    this(classes, 0, 1);
  }

  @Override
  public void run(Context context) throws IOException {
    Map<String, Integer> totals = new TreeMap<>();
    JUnitCore junit = new JUnitCore();
    junit.addListener(new Recorder(context, totals));
    for (String name : classes) {
      try {
        Runner runner = Request.aClass(Class.forName(name)).getRunner();
        new Part().apply(runner);
        junit.run(runner);
      } catch (NoTestsRemainException e) {
        context.say("%s has none of part %d", name, part);
      } catch (ClassNotFoundException e) {
        record(context, totals, name, "failed", 0, e.toString());
      }
    }
    context.say("%s: %s", context.options().stage(), totals);
    if (totals.containsKey("failed")) {
      throw new IllegalStateException(totals.get("failed") + " tests failed");
    }
  }

  private static void record(
      Context context,
      Map<String, Integer> totals,
      String id,
      String outcome,
      double seconds,
      String message)
      throws IOException {
    totals.merge(outcome, 1, Integer::sum);
    context.tested(id, outcome, seconds, message);
  }

  private static String id(Description description) {
    return description.getMethodName() == null
        ? description.getClassName()
        : description.getClassName() + "#" + method(description);
  }

  /** Returns the method's name without the seed that repetitions append. */
  private static String method(Description description) {
    return description.getMethodName().replaceFirst(" .*", "");
  }

  /** Selects the tests of this part. */
  private final class Part extends Filter {
    @Override
    public boolean shouldRun(Description description) {
      return description.isTest() == false
          || Math.floorMod(method(description).hashCode(), parts) == part;
    }

    @Override
    public String describe() {
      return "part " + part + " of " + parts;
    }
  }

  /** Records each test when it ends. */
  private static final class Recorder extends RunListener {
    private final Context context;
    private final Map<String, Integer> totals;
    private final Map<String, String> messages = new TreeMap<>();
    private final Map<String, String> statuses = new TreeMap<>();
    private long started = System.nanoTime();

    Recorder(Context context, Map<String, Integer> totals) {
      this.context = context;
      this.totals = totals;
    }

    @Override
    public void testStarted(Description description) {
      started = System.nanoTime();
    }

    @Override
    public void testFailure(Failure failure) throws IOException {
      statuses.put(id(failure.getDescription()), "failed");
      messages.put(id(failure.getDescription()), String.valueOf(failure.getException()));
      context.say("%s", failure.getTrace());
      if (failure.getDescription().isTest() == false) {
        finished(id(failure.getDescription()));
      }
    }

    @Override
    public void testAssumptionFailure(Failure failure) {
      String id = id(failure.getDescription());
      statuses.put(id, "skipped");
      messages.put(id, failure.getMessage());
      if (failure.getDescription().isTest() == false) {
        try {
          finished(id);
        } catch (IOException e) {
          throw new java.io.UncheckedIOException(e);
        }
      }
    }

    @Override
    public void testIgnored(Description description) throws IOException {
      record(context, totals, id(description), "skipped", 0, "ignored");
    }

    @Override
    public void testFinished(Description description) throws IOException {
      finished(id(description));
    }

    private void finished(String id) throws IOException {
      record(
          context,
          totals,
          id,
          statuses.getOrDefault(id, "passed"),
          (System.nanoTime() - started) * 1e-9,
          messages.get(id));
    }
  }
}
