package dev.vamana.elasticsearch.monitor.recall;

import java.util.Locale;

/** Why a search that was drawn was not evaluated. */
enum Skipped {
  /** The node was not idle for the time that a sample may wait. */
  BUSY,
  /** The index was refreshed between the search and the sample, or a point in time was searched. */
  CHANGED,
  /** The user may not see all documents. */
  HIDDEN_DOCUMENTS,
  /**
   * The query is more than one for nearest vectors: it has a least similarity, a boost, rescoring;
   * or its field belongs to nested documents.
   */
  UNSUPPORTED,
  /** No document that the filter accepts has a vector. */
  NO_NEIGHBORS,
  /** The shard was closed. */
  CLOSED,
  /** The evaluation failed; the log has the cause at level debug. */
  FAILED;

  String label() {
    return name().toLowerCase(Locale.ROOT);
  }
}
