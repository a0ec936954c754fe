package dev.vamana.elasticsearch;

import org.junit.runners.Parameterized;
import org.junit.runners.model.RunnerScheduler;

/**
 * Runs a class once for each of its parameters, one after the other. Classes of integration tests
 * run side by side, and JUnit counts every parameter as a class of its own; but all parameters use
 * one cluster.
 */
public final class OneByOne extends Parameterized {

  /** Called by JUnit with the class to run. */
  public OneByOne(Class<?> testClass) throws Throwable {
    super(testClass);
  }

  @Override
  public void setScheduler(RunnerScheduler scheduler) {
    // the one that is there runs parameters in order
  }
}
