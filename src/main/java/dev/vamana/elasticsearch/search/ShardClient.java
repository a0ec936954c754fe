package dev.vamana.elasticsearch.search;

import org.elasticsearch.action.ActionListener;

/**
 * Asks copies of shards for one batched search. Listeners are called once, on a thread that may
 * compute.
 */
interface ShardClient {

  /** Whether requests to a node are copied into messages; a node reads its own as they are. */
  boolean copies(String node);

  /** Searches a copy. */
  void query(String node, ShardQueryRequest request, ActionListener<ShardQueryResponse> listener);

  /** Fetches from the reader that a search has left open, and closes it. */
  void fetch(String node, ShardFetchRequest request, ActionListener<ShardFetchResponse> listener);

  /**
   * Closes the reader that a search has left open; also when the batched search is cancelled.
   *
   * @param request its documents are not read
   */
  void free(String node, ShardFetchRequest request);
}
