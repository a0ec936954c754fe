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
  private final Lanes lanes;
  private final DemoOptions options;

  TextPage(DemoSet set, SentenceEncoder encoder, Lanes lanes, DemoOptions options) {
    this.set = set;
    this.encoder = encoder;
    this.lanes = lanes;
    this.options = options;
  }

  /** Starts serving the page. */
  SearchServer serve(NodeClient client) throws IOException {
    Lane stock = lanes.get(lanes.size() - 1);
    List<Engine> engines = List.of(new Asked(client, lanes.get(0)), new Asked(client, stock));
    return new SearchServer(
        set.text(), encoder, engines, new JavadocFolder(options.javadoc()), options.pagePort());
  }

  /** One index over HTTP. */
  private static final class Asked implements Engine {
    private final NodeClient client;
    private final KnnIndex index;
    private final boolean ours;
    private final boolean gpu;
    private Answered before;

    Asked(NodeClient client, Lane lane) throws IOException {
      this.client = client;
      this.index = lane.index();
      this.ours = lane.ours();
      this.gpu = lane.gpu();
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
      Answered now = GpuStatus.of(client).answered();
      String answeredBy = now.since(before).cell(gpu);
      before = now;
      return answeredBy;
    }
  }
}
