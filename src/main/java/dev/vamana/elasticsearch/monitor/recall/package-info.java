/**
 * Recall of live searches: some of them are answered once more, exactly, when the node is idle.
 *
 * <p>{@link dev.vamana.elasticsearch.monitor.recall.RecallListener} takes samples on search
 * threads, {@link dev.vamana.elasticsearch.monitor.recall.RecallMonitor} evaluates them on a thread
 * of its own, {@link dev.vamana.elasticsearch.monitor.recall.ShardRecall} keeps what was found.
 */
package dev.vamana.elasticsearch.monitor.recall;
