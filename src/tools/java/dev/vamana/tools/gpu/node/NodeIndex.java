package dev.vamana.tools.gpu.node;

import dev.vamana.tools.datasets.Recall;
import dev.vamana.tools.datasets.VectorSet;
import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.node.RunningNode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/** One index of the measured node. */
public final class NodeIndex {

  /** Hits of every query. */
  static final int K = 10;

  private static final int BULK_SIZE = 500;
  private static final long PAUSE_MILLIS = 20;

  private final RunningNode node;
  private final VectorSet set;
  private final String name;
  private final String method;

  /**
   * Describes an index, which need not exist yet.
   *
   * @param name name in the node
   * @param method name in the report
   */
  public NodeIndex(RunningNode node, VectorSet set, String name, String method) {
    this.node = node;
    this.set = set;
    this.name = name;
    this.method = method;
  }

  String name() {
    return name;
  }

  String method() {
    return method;
  }

  /** Returns the same index in a restarted node. */
  NodeIndex in(RunningNode restarted, String otherMethod) {
    return new NodeIndex(restarted, set, name, otherMethod);
  }

  /**
   * Fills the index with the first vectors of the set and merges it to one segment, unless it
   * already holds as many.
   *
   * @return duration in seconds; 0 if the index was there
   */
  public double fill(int count, Map<String, String> settings) throws IOException {
    return fill(count, 1, settings);
  }

  /**
   * As {@link #fill(int, Map)}, merged to at most {@code segments} segments.
   *
   * @param segments 1 or more
   */
  public double fill(int count, int segments, Map<String, String> settings) throws IOException {
    return fill(count, count, segments, settings);
  }

  /**
   * As {@link #fill(int, int, Map)}, with vectors in only some of the documents, spread evenly.
   *
   * @param vectors number of documents with a vector, 1 to {@code count}
   */
  double fill(int count, int vectors, int segments, Map<String, String> settings)
      throws IOException {
    NodeClient client = node.client();
    if (client.send("GET", "/" + name, null, "application/json").status() == 200) {
      Object there = client.get("/" + name + "/_count").get("count");
      if (Integer.valueOf(count).equals(there)
          && new KnnIndex(client, name, method).segments() <= segments) {
        return 0;
      }
      client.delete("/" + name);
    }
    long start = System.nanoTime();
    KnnIndex index = new KnnIndex(client, name, method);
    index.create(set.dimension(), set.metric(), settings);
    load(count, vectors);
    index.finish(segments);
    return (System.nanoTime() - start) / 1e9;
  }

  private void load(int count, int vectors) throws IOException {
    NodeClient client = node.client();
    float[][] base = set.base().rows();
    try {
      IntStream.range(0, (count + BULK_SIZE - 1) / BULK_SIZE)
          .parallel()
          .forEach(
              bulk -> {
                StringBuilder lines = new StringBuilder();
                int to = Math.min(count, (bulk + 1) * BULK_SIZE);
                for (int id = bulk * BULK_SIZE; id < to; id++) {
                  if ((long) id * vectors % count < vectors) {
                    KnnIndex.appendDocument(lines, id, base[id]);
                  } else {
                    KnnIndex.appendDocument(lines, id);
                  }
                }
                try {
                  client.bulk("/" + name + "/_bulk", lines.toString());
                } catch (IOException e) {
                  throw new UncheckedIOException(e);
                }
              });
    } catch (UncheckedIOException e) {
      throw e.getCause();
    }
  }

  /**
   * What a forced merge started from and took.
   *
   * @param segments segments before
   * @param seconds time of the merge to one segment
   */
  public record Merge(int segments, double seconds) {}

  /**
   * Creates and fills the index, lets the node end its own merges, and merges it to one segment.
   *
   * @param count the first vectors of the set
   */
  public Merge merge(int count, Map<String, String> settings) throws IOException {
    NodeClient client = node.client();
    KnnIndex index = new KnnIndex(client, name, method);
    index.create(set.dimension(), set.metric(), settings);
    load(count, count);
    client.post("/" + name + "/_refresh", null);
    while (merging(client)) {
      pause();
    }
    int segments = index.segments();
    long start = System.nanoTime();
    mergeToOne(client, name);
    return new Merge(segments, (System.nanoTime() - start) / 1e9);
  }

  private boolean merging(NodeClient client) throws IOException {
    Map<String, Object> stats = client.get("/" + name + "/_stats/merge");
    return ((Number) NodeClient.at(stats, "_all", "primaries", "merges", "current")).intValue() > 0;
  }

  private static void pause() throws IOException {
    try {
      Thread.sleep(PAUSE_MILLIS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IOException("interrupted while the node merged", e);
    }
  }

  /** Merges an index to one segment by a task, which may take longer than a request. */
  static void mergeToOne(NodeClient client, String name) throws IOException {
    Object task =
        client
            .post("/" + name + "/_forcemerge?max_num_segments=1&wait_for_completion=false", null)
            .get("task");
    Object completed = false;
    while (Boolean.TRUE.equals(completed) == false) {
      // answers sooner if the task ends, and 408 if it does not
      NodeClient.Response response =
          client.send(
              "GET",
              "/_tasks/" + task + "?wait_for_completion=true&timeout=30s",
              null,
              "application/json");
      completed = response.status() == 200 ? response.json().get("completed") : false;
    }
  }

  /** Returns the set's queries as prepared requests. */
  List<byte[]> requests(int numCandidates) {
    List<byte[]> requests = new ArrayList<>();
    for (float[] query : set.queries().rows()) {
      requests.add(
          RestConnection.post(
              node.httpUri(), "/" + name + "/_search", KnnIndex.query(query, K, numCandidates)));
    }
    return requests;
  }

  /** Returns recall@10 over all queries. */
  double recall(RestClients clients, int numCandidates) throws IOException {
    int[][] hits =
        clients.askAll(requests(numCandidates)).stream()
            .map(answer -> KnnIndex.ids(new String(answer, StandardCharsets.UTF_8)))
            .toArray(int[][]::new);
    return new Recall(set, K).of(hits);
  }

  /**
   * The search width for a recall.
   *
   * @param numCandidates the smallest sufficient width of those tried
   * @param recall its recall
   */
  record Width(int numCandidates, double recall) {}

  /**
   * Returns the smallest tried {@code num_candidates} that reaches a recall, or the largest tried
   * if none does.
   */
  Width width(RestClients clients, double target, int[] widths) throws IOException {
    Width last = null;
    for (int numCandidates : Arrays.stream(widths).sorted().toArray()) {
      last = new Width(numCandidates, recall(clients, numCandidates));
      if (last.recall() >= target) {
        break;
      }
    }
    return last;
  }
}
