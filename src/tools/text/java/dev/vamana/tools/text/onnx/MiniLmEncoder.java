package dev.vamana.tools.text.onnx;

import dev.langchain4j.data.segment.TextSegment;
import dev.langchain4j.model.embedding.onnx.allminilml6v2q.AllMiniLmL6V2QuantizedEmbeddingModel;
import dev.vamana.tools.text.SentenceEncoder;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.IntConsumer;

/** The sentence encoder all-MiniLM-L6-v2 with weights of 8 bits. */
final class MiniLmEncoder implements SentenceEncoder {

  private static final int TOGETHER = 256;

  private final ExecutorService threads =
      Executors.newFixedThreadPool(Runtime.getRuntime().availableProcessors());
  private final AllMiniLmL6V2QuantizedEmbeddingModel model =
      new AllMiniLmL6V2QuantizedEmbeddingModel(threads);

  @Override
  public String name() {
    return "all-MiniLM-L6-v2-q";
  }

  @Override
  public float[][] encode(List<String> texts, IntConsumer done) {
    float[][] vectors = new float[texts.size()][];
    for (int from = 0; from < vectors.length; from += TOGETHER) {
      int to = Math.min(vectors.length, from + TOGETHER);
      List<TextSegment> some = texts.subList(from, to).stream().map(TextSegment::from).toList();
      var embeddings = model.embedAll(some).content();
      for (int i = from; i < to; i++) {
        vectors[i] = embeddings.get(i - from).vector();
      }
      done.accept(to);
    }
    return vectors;
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
