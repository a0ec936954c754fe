package dev.vamana.tools.gpu;

import java.io.IOException;
import java.io.UncheckedIOException;
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

  private static final String FAILED = "failed";
  private static final String SKIPPED = "skipped";

  TestStage(List<String> classes) {
    this(classes, 0, 1);
  }

  @Override
  public void run(Context context) throws IOException {
    Recorder recorder = new Recorder(context);
    JUnitCore junit = new JUnitCore();
    junit.addListener(recorder);
    for (String name : classes) {
      try {
        Runner runner = Request.aClass(Class.forName(name)).getRunner();
        new Part().apply(runner);
        junit.run(runner);
      } catch (NoTestsRemainException e) {
        context.say("%s has none of part %d", name, part);
      } catch (ClassNotFoundException e) {
        throw new IllegalStateException("the suite has no " + name, e);
      }
    }
    context.say("%s: %s", context.options().stage(), recorder.totals);
    if (recorder.totals.containsKey(FAILED)) {
      throw new IllegalStateException(recorder.totals.get(FAILED) + " tests failed");
    }
  }

  /** Returns the method's name without the seed that repetitions append; null for a class. */
  private static String method(Description description) {
    String name = description.getMethodName();
    return name == null ? null : name.replaceFirst(" .*", "");
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

  /** Records each test when it ends, and each class that fails or is skipped as a whole. */
  private static final class Recorder extends RunListener {
    private final Context context;
    private final Map<String, Integer> totals = new TreeMap<>();
    private long started = System.nanoTime();
    private String outcome;
    private String message;

    Recorder(Context context) {
      this.context = context;
    }

    @Override
    public void testStarted(Description description) {
      started = System.nanoTime();
      outcome = "passed";
      message = null;
    }

    @Override
    public void testFailure(Failure failure) throws IOException {
      context.say("%s", failure.getTrace());
      ended(failure, FAILED, String.valueOf(failure.getException()));
    }

    @Override
    public void testAssumptionFailure(Failure failure) {
      try {
        ended(failure, SKIPPED, failure.getMessage());
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    private void ended(Failure failure, String how, String why) throws IOException {
      outcome = how;
      message = why;
      if (failure.getDescription().isTest() == false) {
        testFinished(failure.getDescription());
      }
    }

    @Override
    public void testIgnored(Description description) throws IOException {
      testStarted(description);
      outcome = SKIPPED;
      testFinished(description);
    }

    @Override
    public void testFinished(Description description) throws IOException {
      String method = method(description);
      String id = description.getClassName() + (method == null ? "" : "#" + method);
      totals.merge(outcome, 1, Integer::sum);
      context.tested(id, outcome, (System.nanoTime() - started) * 1e-9, message);
    }
  }
}
