package dev.vamana.elasticsearch.yaml;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** {@code eventually}: steps that are run again, all of them, until none fails any more. */
final class EventuallyStep implements Step {
  private static final Duration PATIENCE = Duration.ofSeconds(10);
  private static final Duration LONGEST_PAUSE = Duration.ofMillis(500);

  private final List<Step> steps;
  private final Duration patience;

  EventuallyStep(List<Step> steps, Duration patience) {
    this.steps = List.copyOf(steps);
    this.patience = patience;
  }

  /** Reads a step; see {@link Step#parse}. */
  static EventuallyStep parse(Object argument) {
    if (argument instanceof List == false || ((List<?>) argument).isEmpty()) {
      throw new IllegalArgumentException("[eventually] takes a list of steps, has " + argument);
    }
    List<Step> steps = new ArrayList<>();
    for (Object entry : (List<?>) argument) {
      Map<String, Object> step = Content.object(entry, "each step of [eventually]");
      if (step.size() != 1) {
        throw new IllegalArgumentException("a step has one member, not " + step.keySet());
      }
      step.forEach((kind, of) -> steps.add(Step.parse(kind, of)));
    }
    return new EventuallyStep(steps, PATIENCE);
  }

  /** The steps that are repeated. */
  List<Step> steps() {
    return steps;
  }

  @Override
  public void run(Execution execution) throws IOException {
    long end = System.nanoTime() + patience.toNanos();
    long pause = 1;
    while (true) {
      try {
        for (Step step : steps) {
          step.run(execution);
        }
        return;
      } catch (AssertionError e) {
        if (System.nanoTime() - end >= 0) {
          throw e;
        }
      }
      sleep(pause);
      pause = Math.min(2 * pause, LONGEST_PAUSE.toMillis());
    }
  }

  private static void sleep(long millis) throws IOException {
    try {
      Thread.sleep(millis);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted between two trials", e);
    }
  }
}
