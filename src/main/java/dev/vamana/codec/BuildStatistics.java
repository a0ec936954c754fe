package dev.vamana.codec;

import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.index.MergePolicy;

/**
 * Counts what writing segments has done since the instance was made; one may be shared by any
 * number of formats. Thread-safe: counters never go down, and none of them misses anything, though
 * a snapshot taken while segments are written may show one of two counters of the same step ahead
 * of the other.
 */
public final class BuildStatistics {

  /** Why a segment's codes were not made with a shared codebook. */
  enum OwnCodebook {
    NONE_NAMED,
    NOT_READY,
    DOES_NOT_FIT
  }

  private final LongAdder graphs = new LongAdder();
  private final LongAdder graphNanos = new LongAdder();
  private final LongAdder nodesInserted = new LongAdder();
  private final LongAdder nodesReused = new LongAdder();
  private final LongAdder quantizations = new LongAdder();
  private final LongAdder quantizationNanos = new LongAdder();
  private final LongAdder codebooksShared = new LongAdder();
  private final LongAdder codebooksKept = new LongAdder();
  private final LongAdder codebooksTrained = new LongAdder();
  private final LongAdder noneNamed = new LongAdder();
  private final LongAdder notReady = new LongAdder();
  private final LongAdder doesNotFit = new LongAdder();
  private final LongAdder codesEncoded = new LongAdder();
  private final LongAdder codesCopied = new LongAdder();
  private final LongAdder aborted = new LongAdder();
  private final LongAdder failed = new LongAdder();

  /** Counters at one time. */
  public Snapshot snapshot() {
    return new Snapshot(
        graphs.sum(),
        graphNanos.sum(),
        nodesInserted.sum(),
        nodesReused.sum(),
        quantizations.sum(),
        quantizationNanos.sum(),
        codebooksShared.sum(),
        codebooksKept.sum(),
        codebooksTrained.sum(),
        noneNamed.sum(),
        notReady.sum(),
        doesNotFit.sum(),
        codesEncoded.sum(),
        codesCopied.sum(),
        aborted.sum(),
        failed.sum());
  }

  void graphBuilt(long inserted, long reused, long nanos) {
    graphs.increment();
    nodesInserted.add(inserted);
    nodesReused.add(reused);
    graphNanos.add(nanos);
  }

  void quantized(long encoded, long copied, long nanos) {
    quantizations.increment();
    codesEncoded.add(encoded);
    codesCopied.add(copied);
    quantizationNanos.add(nanos);
  }

  void sharedCodebook() {
    codebooksShared.increment();
  }

  void keptCodebook(OwnCodebook reason) {
    codebooksKept.increment();
    count(reason);
  }

  void trainedCodebook(OwnCodebook reason) {
    codebooksTrained.increment();
    count(reason);
  }

  private void count(OwnCodebook reason) {
    LongAdder counter =
        switch (reason) {
          case NONE_NAMED -> noneNamed;
          case NOT_READY -> notReady;
          case DOES_NOT_FIT -> doesNotFit;
        };
    counter.increment();
  }

  /** A build that ended with an exception. */
  void ended(Throwable exception) {
    (exception instanceof MergePolicy.MergeAbortedException ? aborted : failed).increment();
  }

  /**
   * The counters. A field of a segment counts by itself.
   *
   * @param graphs graphs built
   * @param graphNanos nanoseconds that building and writing them took, from start to end
   * @param nodesInserted nodes of these graphs that were searched a place for
   * @param nodesReused nodes of these graphs whose row was taken over from a merge's source
   * @param quantizations times that a segment's field got codes
   * @param quantizationNanos nanoseconds that took, training included, from start to end
   * @param codebooksShared how many of these used a shared codebook
   * @param codebooksKept how many used the codebook of a merge's source
   * @param codebooksTrained how many trained a codebook
   * @param ownNoneNamed how many of those kept or trained had no shared codebook named
   * @param ownNotReady how many of those kept or trained had one named that was not ready
   * @param ownDoesNotFit how many of those kept or trained had one named that does not fit the
   *     field
   * @param codesEncoded codes computed
   * @param codesCopied codes copied from a merge's sources
   * @param aborted graphs and quantizations given up because their merge was aborted
   * @param failed graphs and quantizations that ended with another exception
   */
  public record Snapshot(
      long graphs,
      long graphNanos,
      long nodesInserted,
      long nodesReused,
      long quantizations,
      long quantizationNanos,
      long codebooksShared,
      long codebooksKept,
      long codebooksTrained,
      long ownNoneNamed,
      long ownNotReady,
      long ownDoesNotFit,
      long codesEncoded,
      long codesCopied,
      long aborted,
      long failed) {}
}
