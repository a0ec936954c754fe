/**
 * Recall of live searches: some of them are answered once more, exactly, when the node is idle.
 *
 * <p>{@link dev.vamana.elasticsearch.monitor.recall.RecallSampler} takes samples on search threads,
 * {@link dev.vamana.elasticsearch.monitor.recall.RecallMonitor} evaluates them on a thread of its
 * own and keeps the recall of each field.
 */
package dev.vamana.elasticsearch.monitor.recall;
