package dev.vamana.tools.demo;

import dev.vamana.tools.node.NodeClient;
import dev.vamana.tools.text.Engine;
import dev.vamana.tools.text.JavadocFolder;
import dev.vamana.tools.text.Passage;
import dev.vamana.tools.text.SearchServer;
import dev.vamana.tools.text.SentenceEncoder;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** The page that asks both indices of a running node questions in words. */
final class TextPage {

  private final DemoSet set;
  private final SentenceEncoder encoder;
  private final List<Row> rows;
  private final DemoOptions options;

  TextPage(DemoSet set, SentenceEncoder encoder, List<Row> rows, DemoOptions options) {
    this.set = set;
    this.encoder = encoder;
    this.rows = rows;
    this.options = options;
  }

  /** Starts serving the page. */
  SearchServer serve(NodeClient client) throws IOException {
    List<Engine> engines =
        List.of(
            new Asked(client, rows.get(0).index(), true),
            new Asked(client, rows.get(rows.size() - 1).index(), false));
    return new SearchServer(
        set.text(), encoder, engines, new JavadocFolder(options.javadoc()), options.pagePort());
  }

  /** One index over HTTP. */
  private static final class Asked implements Engine {
    private final NodeClient client;
    private final KnnIndex index;
    private final boolean ours;
    private Answered before;

    Asked(NodeClient client, KnnIndex index, boolean ours) throws IOException {
      this.client = client;
      this.index = index;
      this.ours = ours;
      this.before = GpuStatus.of(client).answered();
    }

    @Override
    public String label() {
      return index.label();
    }

    @Override
    public Answer ask(float[] vector, int k, int numCandidates) throws IOException {
      String answer = index.ask(KnnIndex.query(vector, k, numCandidates, true));
      List<Hit> hits = new ArrayList<>();
      Object json = new NodeClient.Response(200, answer, List.of()).json();
      for (Object hit : (List<?>) NodeClient.at(json, "hits", "hits")) {
        hits.add(
            new Hit(
                Integer.parseInt((String) NodeClient.at(hit, "_id")),
                ((Number) NodeClient.at(hit, "_score")).doubleValue(),
                passage(NodeClient.at(hit, "_source", KnnIndex.PASSAGE))));
      }
      return new Answer(hits);
    }

    private static Passage passage(Object json) {
      return new Passage(
          (String) NodeClient.at(json, "source"),
          (String) NodeClient.at(json, "page"),
          (String) NodeClient.at(json, "anchor"),
          (String) NodeClient.at(json, "title"),
          (String) NodeClient.at(json, "text"));
    }

    @Override
    public String answeredBy() throws IOException {
      if (ours == false) {
        return "CPU";
      }
      GpuStatus now = GpuStatus.of(client);
      String answeredBy = now.answered().since(before).cell(now.usable());
      before = now.answered();
      return answeredBy;
    }
  }
}
