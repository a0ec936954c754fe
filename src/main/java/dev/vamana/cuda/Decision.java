package dev.vamana.cuda;

import dev.vamana.cuda.batch.HeldSegment;
import dev.vamana.cuda.batch.ItemPlan;
import dev.vamana.cuda.plan.Choice;
import java.lang.foreign.MemorySegment;

/**
 * What becomes of items that differ in their query alone. One instance stands for all of them in a
 * call.
 *
 * @param choice the plan and its predicted time, for all of them together
 * @param segment where it lies on the device, held by the planner; null if it is not needed
 * @param file vectors that an exact search brings to the device; null if it has them
 * @param walk how a launch walks them; null if none does
 * @param reason why they are the CPU's; null if they are not
 * @param detail of the reason
 */
record Decision(
    Choice choice,
    HeldSegment segment,
    MemorySegment file,
    ItemPlan walk,
    FallbackReason reason,
    String detail) {

  static Decision cpu(Choice choice, FallbackReason reason, String detail) {
    return new Decision(choice, null, null, null, reason, detail);
  }

  static Decision walk(Choice choice, HeldSegment segment, ItemPlan walk) {
    return new Decision(choice, segment, null, walk, null, null);
  }

  static Decision exact(Choice choice, HeldSegment segment, MemorySegment file) {
    return new Decision(choice, segment, file, null, null, null);
  }
}
