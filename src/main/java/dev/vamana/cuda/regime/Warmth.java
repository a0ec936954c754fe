package dev.vamana.cuda.regime;

import java.util.EnumMap;
import java.util.Map;

/**
 * Which arms have answered so little that they are cold: a fresh process has not compiled their
 * code, so what they do says nothing yet. Guarded by the controller.
 */
final class Warmth {

  /** Answers after which an arm is warm. */
  private static final int ANSWERS = 20_000;

  /** Time after which an arm is warm, however few its answers. */
  private static final long NANOS = 2_000_000_000;

  private final Map<Arm, Window> answered = new EnumMap<>(Arm.class);

  /** Counts what an arm did. Returns whether the arm was cold before. */
  boolean add(Arm arm, Window window) {
    Window before = answered.getOrDefault(arm, Window.NONE);
    if (before.count() >= ANSWERS || before.nanos() >= NANOS) {
      return false;
    }
    answered.put(arm, before.plus(window));
    return true;
  }
}
