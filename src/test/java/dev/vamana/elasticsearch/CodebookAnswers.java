package dev.vamana.elasticsearch;

import static org.junit.Assert.assertEquals;
import static org.junit.Assert.fail;

import dev.vamana.tools.node.NodeClient;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;

/** Asks a node for codebooks. */
final class CodebookAnswers {
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  private CodebookAnswers() {}

  /** The only codebook that a path names. */
  static Map<?, ?> only(NodeClient client, String path) throws IOException {
    Map<String, Object> answer = client.get("/_vamana/codebooks/" + path);
    List<?> all = (List<?>) answer.get("codebooks");
    assertEquals(answer.toString(), 1, all.size());
    return (Map<?, ?>) all.get(0);
  }

  /** Deletes all that are stored, also where an index names them. */
  static void deleteAll(NodeClient client) throws IOException {
    for (Object codebook : (List<?>) client.get("/_vamana/codebooks").get("codebooks")) {
      Map<?, ?> entry = (Map<?, ?>) codebook;
      if (!"sampling".equals(entry.get("state"))) {
        client.delete("/_vamana/codebooks/" + entry.get("name") + "?force=true");
      }
    }
  }

  /** A node's own sample of a codebook, as its statistics show it. */
  static Map<?, ?> sample(NodeClient client, String name) throws IOException {
    Map<String, Object> answer = client.get("/_vamana/nodes/_local/stats/training");
    Map<?, ?> node = (Map<?, ?>) ((Map<?, ?>) answer.get("nodes")).values().iterator().next();
    return (Map<?, ?>) NodeClient.at(node, "training", "samples", name);
  }

  static Map<?, ?> awaitState(NodeClient client, String name, String state)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (true) {
      Map<?, ?> codebook = only(client, name);
      if (state.equals(codebook.get("state"))) {
        return codebook;
      }
      if (System.nanoTime() > end) {
        fail("still " + codebook);
      }
      Thread.sleep(100);
    }
  }
}
