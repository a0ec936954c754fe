package dev.vamana.cuda.session;

import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts codebooks trained and vectors encoded on the device, and the work left to the CPU, over
 * all contexts.
 */
public final class TrainingCounters {

  final LongAdder codebooks = new LongAdder();
  final LongAdder codebookNanos = new LongAdder();
  final LongAdder vectorsEncoded = new LongAdder();
  final LongAdder encodeNanos = new LongAdder();
  final LongAdder tooSmall = new LongAdder();
  final LongAdder noMemory = new LongAdder();
  final LongAdder noDevice = new LongAdder();
  final LongAdder failed = new LongAdder();

  SortedMap<String, Long> totals() {
    SortedMap<String, Long> totals = new TreeMap<>();
    totals.put("codebooks", codebooks.sum());
    totals.put("codebook_nanos", codebookNanos.sum());
    totals.put("vectors_encoded", vectorsEncoded.sum());
    totals.put("encode_nanos", encodeNanos.sum());
    return totals;
  }

  /** Returns trainings and encodings done by the CPU, by reason. */
  SortedMap<String, Long> onCpu() {
    SortedMap<String, Long> reasons = new TreeMap<>();
    reasons.put("too_small", tooSmall.sum());
    reasons.put("out_of_memory", noMemory.sum());
    reasons.put("no_device", noDevice.sum());
    reasons.put("failed", failed.sum());
    return reasons;
  }
}
