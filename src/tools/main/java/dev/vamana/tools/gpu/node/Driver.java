package dev.vamana.tools.gpu.node;

import java.util.List;

/**
 * Requests of the driver of a public benchmark: the index that it creates, the documents of a bulk
 * request, and searches of one vector a request. docs/operators/other-benchmarks.md names the
 * versions that the requests follow.
 */
public interface Driver {

  /** All drivers. */
  List<Driver> ALL = List.of(new VectorDbBench(), new CuvsBench());

  /** Name of the benchmark. */
  String name();

  /** Body of the request that creates the index, with one shard and no replica. */
  String mapping(int dimension, String similarity);

  /** Documents of a bulk request. */
  int bulkSize();

  /** Appends the two lines of a document. */
  void append(StringBuilder lines, String index, int id, float[] vector);

  /** Whether the driver merges the index to one segment before it searches. */
  boolean merges();

  /** Path and parameters of a search, without the name of the index. */
  String searchPath();

  /** Body of a search. */
  String search(float[] query, int numCandidates);

  /** Hits of a search. */
  int k();

  /** Values of {@code num_candidates}, ascending. */
  List<Integer> numCandidates();

  /** Numbers of concurrent clients, ascending. */
  List<Integer> clients();

  /** Ids of the hits in an answer, best first. */
  int[] ids(String answer);
}
