package dev.vamana.tools.demo;

import dev.vamana.tools.node.RunningNode;
import dev.vamana.tools.text.SearchServer;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CompletableFuture;

/** A node that stays up after the measurements, to be asked by hand. */
final class KeptNode {

  private final RunningNode node;
  private final KnnIndex index;
  private final DemoSet set;
  private final Path out;

  /**
   * A running node with a filled index.
   *
   * @param out folder that receives a query to send
   */
  KeptNode(RunningNode node, KnnIndex index, DemoSet set, Path out) {
    this.node = node;
    this.index = index;
    this.set = set;
    this.out = out;
  }

  /**
   * Prints how to ask the node, then the summary, and returns when the process that started this
   * one has ended. Without a page it also returns when the node has ended; the page stays, and says
   * that the node does not answer.
   *
   * @param page to serve meanwhile, null for none
   */
  void stayUp(TextPage page, PrintStream print, String summary) throws IOException {
    announce(print);
    if (page == null) {
      print.println(summary);
      CompletableFuture.anyOf(parentEnds(), node.onExit()).join();
      return;
    }
    try (SearchServer server = page.serve(node.client())) {
      print.println("Ask questions in words at  " + server.uri());
      print.println();
      print.println(summary);
      node.onExit()
          .thenRun(() -> print.println("The node has ended; the page stays until Ctrl-C."));
      parentEnds().join();
    }
  }

  /** Writes the query file and prints commands that work as they are. */
  private void announce(PrintStream print) throws IOException {
    Path query = out.resolve("query.json");
    float[] vector = set.vectors().queries().rows()[0];
    Files.writeString(query, KnnIndex.query(vector, 5, Figures.NUM_CANDIDATES) + "\n");
    index.refreshByItself();
    String base = node.httpUri() + "/" + index.name();
    String json = "curl -H 'Content-Type: application/json' '" + base + "/_search?pretty' -d ";
    print.println();
    print.println("The node stays up until this command is ended (Ctrl-C). Ask it, for example:");
    print.println("  curl '" + node.httpUri() + "/_cat/indices?v'");
    print.println("  curl '" + base + "/_settings?pretty'");
    print.println("  " + json + "@" + query);
    print.println(
        "  "
            + json
            + "'{\"_source\": false, \"knn\": {\"field\": \""
            + KnnIndex.FIELD
            + "\", \"k\": 5, \"num_candidates\": 100, \"query_vector_builder\": {\"lookup\":"
            + " {\"index\": \""
            + index.name()
            + "\", \"id\": \"7\", \"path\": \""
            + KnnIndex.FIELD
            + "\"}}}}'");
    print.println();
  }

  /** Completes when the process that started this one (Maven) has ended. */
  private static CompletableFuture<ProcessHandle> parentEnds() {
    return ProcessHandle.current()
        .parent()
        .map(ProcessHandle::onExit)
        .orElseGet(CompletableFuture::new);
  }
}
