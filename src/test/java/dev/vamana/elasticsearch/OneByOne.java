package dev.vamana.elasticsearch;

import java.util.List;
import org.junit.runner.Description;
import org.junit.runner.Runner;
import org.junit.runner.notification.RunNotifier;
import org.junit.runners.Parameterized;
import org.junit.runners.ParentRunner;

/**
 * Runs the parameters of a class one after the other, as {@link Parameterized} does, beside other
 * classes. Of runners that are suites, the build would run the parameters of one side by side, and
 * no class before all suites have ended.
 */
public final class OneByOne extends ParentRunner<Runner> {

  private static final class Parameters extends Parameterized {
    Parameters(Class<?> testClass) throws Throwable {
      super(testClass);
    }

    List<Runner> each() {
      return getChildren();
    }
  }

  private final List<Runner> parameters;

  public OneByOne(Class<?> testClass) throws Throwable {
    super(testClass);
    parameters = new Parameters(testClass).each();
  }

  @Override
  protected List<Runner> getChildren() {
    return parameters;
  }

  @Override
  protected Description describeChild(Runner parameter) {
    return parameter.getDescription();
  }

  @Override
  protected void runChild(Runner parameter, RunNotifier notifier) {
    parameter.run(notifier);
  }
}
