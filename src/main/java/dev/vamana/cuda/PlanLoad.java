package dev.vamana.cuda;

import java.util.concurrent.atomic.AtomicInteger;

/** What is at work now. */
final class PlanLoad {

  /** Items that walk on the device. */
  final AtomicInteger walking = new AtomicInteger();

  /** Items that the CPU answers. */
  final AtomicInteger onCpu = new AtomicInteger();
}
