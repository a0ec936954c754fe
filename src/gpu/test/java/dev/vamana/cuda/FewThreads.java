package dev.vamana.cuda;

import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Makes threads of which the first that are started fail, as on a machine without room for more.
 */
public final class FewThreads implements ThreadFactory {

  private final AtomicInteger left;

  /**
   * Makes a factory.
   *
   * @param failures number of starts that fail
   */
  public FewThreads(int failures) {
    left = new AtomicInteger(failures);
  }

  @Override
  public Thread newThread(Runnable task) {
    return new Thread(task) {
      @Override
      public void start() {
        if (left.getAndDecrement() > 0) {
          throw new OutOfMemoryError("unable to create native thread");
        }
        super.start();
      }
    };
  }
}
