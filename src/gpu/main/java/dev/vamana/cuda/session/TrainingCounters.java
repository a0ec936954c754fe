package dev.vamana.cuda.session;

import java.util.concurrent.atomic.LongAdder;

/**
 * Counts codebooks trained, vectors encoded and vectors assigned to lists on the device, and the
 * work left to the CPU, over all contexts.
 */
public final class TrainingCounters extends WorkCounters {

  final LongAdder codebooks = totals.add("codebooks");
  final LongAdder codebookNanos = totals.add("codebook_nanos");
  final LongAdder vectorsEncoded = totals.add("vectors_encoded");
  final LongAdder vectorsAssigned = totals.add("vectors_assigned");
}
