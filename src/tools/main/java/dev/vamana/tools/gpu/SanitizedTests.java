package dev.vamana.tools.gpu;

import java.util.ArrayList;
import java.util.List;
import org.junit.runner.Description;
import org.junit.runner.JUnitCore;
import org.junit.runner.Result;
import org.junit.runner.notification.Failure;
import org.junit.runner.notification.RunListener;

/** Main class of the process that {@link SanitizerStage} starts under a tool: runs test classes. */
public final class SanitizedTests {

  /** Start of the output line with the numbers of passed and failed tests. */
  static final String SUMMARY = "SANITIZED TESTS: ";

  private SanitizedTests() {}

  /** Arguments are names of test classes. Exits with status 1 if a test failed. */
  public static void main(String[] classes) throws ClassNotFoundException {
    List<Class<?>> tests = new ArrayList<>();
    for (String name : classes) {
      tests.add(Class.forName(name));
    }
    JUnitCore junit = new JUnitCore();
    junit.addListener(
        new RunListener() {
          @Override
          public void testFailure(Failure failure) {
            System.out.println(failure.getTrace());
          }

          @Override
          public void testAssumptionFailure(Failure failure) {
            System.out.println("skipped: " + failure.getMessage());
          }

          @Override
          public void testFinished(Description description) {
            System.out.println("done: " + description);
          }
        });
    Result result = junit.run(tests.toArray(new Class<?>[0]));
    int passed =
        result.getRunCount() - result.getFailureCount() - result.getAssumptionFailureCount();
    System.out.println(SUMMARY + passed + " passed, " + result.getFailureCount() + " failed");
    System.exit(result.wasSuccessful() ? 0 : 1);
  }
}
