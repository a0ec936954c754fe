package dev.vamana.cuda.session;

import dev.vamana.cuda.count.Counters;
import dev.vamana.cuda.driver.GpuException;
import java.util.concurrent.atomic.LongAdder;

/** Counts work for writing segments, and what of it is left to the CPU, over all contexts. */
abstract class WorkCounters {

  /** Work of the device. */
  final Counters totals = new Counters();

  /** Work that the CPU does in place of the device, by reason. */
  final Counters onCpu = new Counters();

  private final LongAdder tooSmall = onCpu.add("too_small");
  private final LongAdder noMemory = onCpu.add("out_of_memory");
  private final LongAdder noDevice = onCpu.add("no_device");
  final LongAdder failed = onCpu.add("failed");

  /**
   * Enters the current session for some work, or returns null if the CPU has to do it.
   *
   * @param large whether the work is large enough to gain from the device
   */
  final GpuSession enter(SessionKeeper keeper, boolean large) {
    if (large == false) {
      tooSmall.increment();
      return null;
    }
    GpuSession session = keeper.enter();
    if (session == null) {
      noDevice.increment();
    }
    return session;
  }

  /** Counts a failure, and tells the keeper, unless it gives the session up already. */
  final void failed(SessionKeeper keeper, GpuSession session, GpuException e) {
    if (session.distrusted()) {
      failed.increment();
      return;
    }
    (e.kind() == GpuException.Kind.OUT_OF_MEMORY ? noMemory : failed).increment();
    keeper.failed(session, e);
  }
}
