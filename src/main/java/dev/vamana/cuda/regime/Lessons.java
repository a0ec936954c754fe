package dev.vamana.cuda.regime;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** What was learned, by load: by callers in flight and by work of an answer. */
final class Lessons {

  /** Factor by which callers or work of one load may differ, since a single window scatters. */
  static final double SAME = 1.5;

  /** Factor by which the work may differ for an arm to be worth a try at another load. */
  private static final double NEAR = 2;

  private final List<Lesson> all = new ArrayList<>();

  /** Returns the lesson of the load that a window of an arm shows; null if there is none. */
  Lesson find(Arm arm, Window window) {
    Lesson found = null;
    double least = Math.log(SAME);
    for (Lesson lesson : all) {
      double distance = Math.max(lesson.callersAway(arm, window), lesson.workAway(window));
      if (distance < least) {
        least = distance;
        found = lesson;
      }
    }
    return found;
  }

  /** Adds one of a load that has not been measured, which begins as the next load that has. */
  Lesson add(Arm arm, Window window) {
    Lesson added = new Lesson(arm, window);
    added.adopt(nearest(arm, window));
    all.add(added);
    return added;
  }

  /**
   * Returns the arm of the next load that has been measured, or the cost model if there is none.
   *
   * @param arm chosen while the window was watched
   */
  Arm nearest(Arm arm, Window window) {
    Arm nearest = Arm.MODEL;
    double least = Double.MAX_VALUE;
    for (Lesson lesson : all) {
      double distance = lesson.callersAway(arm, window);
      if (lesson.measured() && lesson.workAway(window) < Math.log(NEAR) && distance < least) {
        least = distance;
        nearest = lesson.arm();
      }
    }
    return nearest;
  }

  /**
   * Forgets what the newest lesson contradicts. Otherwise each of the two would be found while the
   * other's arm answers, and replace it again and again. Example: a device that has become slow has
   * more callers waiting, which look like another load, but not while the CPU answers them.
   */
  void learned(Lesson newest) {
    all.removeIf(newest::contradicts);
  }

  List<Lesson> all() {
    return Collections.unmodifiableList(all);
  }
}
