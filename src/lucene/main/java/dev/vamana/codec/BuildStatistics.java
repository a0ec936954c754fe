package dev.vamana.codec;

import java.util.concurrent.atomic.LongAdder;
import org.apache.lucene.index.MergePolicy;

/**
 * Counts the graphs, codes and codebooks that writing segments has made since this instance was
 * created. Several formats may share one instance.
 *
 * <p>Thread-safe. Counters never go down and miss no event. A snapshot taken while a segment is
 * being written may contain only some of the counters of one step.
 */
public final class BuildStatistics {

  /** Why a segment's codes were not made with a shared codebook. */
  enum OwnCodebook {
    NONE_NAMED,
    NOT_READY,
    DOES_NOT_FIT
  }

  /** Where the centroids of a segment's lists come from. */
  enum CentroidOrigin {
    /** A merge's source segment. */
    KEPT,
    /** Another segment that was written before. */
    SHARED,
    TRAINED
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
  private final LongAdder lists = new LongAdder();
  private final LongAdder listNanos = new LongAdder();
  private final LongAdder centroidsKept = new LongAdder();
  private final LongAdder centroidsShared = new LongAdder();
  private final LongAdder listCodesEncoded = new LongAdder();
  private final LongAdder listCodesCopied = new LongAdder();
  private final LongAdder aborted = new LongAdder();
  private final LongAdder failed = new LongAdder();

  /** Returns the current value of all counters. */
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
        lists.sum(),
        listNanos.sum(),
        centroidsKept.sum(),
        centroidsShared.sum(),
        listCodesEncoded.sum(),
        listCodesCopied.sum(),
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

  void listsBuilt(CentroidOrigin origin, long encoded, long copied, long nanos) {
    lists.increment();
    centroidsKept.add(origin == CentroidOrigin.KEPT ? 1 : 0);
    centroidsShared.add(origin == CentroidOrigin.SHARED ? 1 : 0);
    listCodesEncoded.add(encoded);
    listCodesCopied.add(copied);
    listNanos.add(nanos);
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

  /** Counts a graph, lists or a quantization that ended with an exception. */
  void ended(Throwable exception) {
    (exception instanceof MergePolicy.MergeAbortedException ? aborted : failed).increment();
  }

  /**
   * The counters at one moment. Each field of a segment counts separately.
   *
   * @param graphs graphs built
   * @param graphNanos nanoseconds spent building and writing the graphs, as elapsed time
   * @param nodesInserted nodes that were inserted into a graph by a search
   * @param nodesReused nodes whose row was copied from a merge's source segment
   * @param quantizations fields of segments that were given codes
   * @param quantizationNanos nanoseconds spent on quantization, training included, as elapsed time
   * @param codebooksShared quantizations that used a shared codebook
   * @param codebooksKept quantizations that used the codebook of a merge's source segment
   * @param codebooksTrained quantizations that trained a codebook
   * @param ownNoneNamed quantizations with a kept or trained codebook because the field names no
   *     shared one
   * @param ownNotReady quantizations with a kept or trained codebook because the named one was not
   *     ready
   * @param ownDoesNotFit quantizations with a kept or trained codebook because the named one does
   *     not fit the field
   * @param codesEncoded codes computed
   * @param codesCopied codes copied from a merge's source segments
   * @param lists fields of segments that were given inverted lists
   * @param listNanos nanoseconds spent on lists, training included, as elapsed time
   * @param centroidsKept lists with the centroids of a merge's source segment
   * @param centroidsShared lists with the centroids of another segment that was written before
   * @param listCodesEncoded codes of lists computed
   * @param listCodesCopied codes of lists copied from a merge's source segments
   * @param aborted graphs, lists and quantizations stopped because their merge was aborted
   * @param failed graphs, lists and quantizations that ended with another exception
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
      long lists,
      long listNanos,
      long centroidsKept,
      long centroidsShared,
      long listCodesEncoded,
      long listCodesCopied,
      long aborted,
      long failed) {}
}
