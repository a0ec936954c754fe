package dev.vamana.tools.text.onnx;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import dev.vamana.tools.text.SentenceEncoder;
import dev.vamana.tools.text.WordPiece;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntConsumer;
import java.util.stream.IntStream;

/**
 * The sentence encoder all-MiniLM-L6-v2 with weights of 8 bits, run by ONNX Runtime.
 *
 * <p>Sentences of similar length share a batch, because a batch takes the time of its longest. Each
 * processor runs batches of its own on one thread, which wastes less than sharing one batch.
 */
public final class OnnxEncoder implements SentenceEncoder {

  private static final String NAME = "all-minilm-l6-v2-q";
  private static final int MOST_TOKENS = 40;
  private static final int BATCH = 32;

  private final WordPiece tokenizer;
  private final OrtEnvironment environment = OrtEnvironment.getEnvironment();
  private final OrtSession session;

  /**
   * Loads the model from the class path.
   *
   * @throws IOException if it is not there or cannot be loaded
   */
  public OnnxEncoder() throws IOException {
    try (InputStream json = resource(NAME + "-tokenizer.json")) {
      tokenizer = WordPiece.read(json);
    }
    try (InputStream model = resource(NAME + ".onnx");
        OrtSession.SessionOptions options = new OrtSession.SessionOptions()) {
      options.setIntraOpNumThreads(1);
      options.setInterOpNumThreads(1);
      session = environment.createSession(model.readAllBytes(), options);
    } catch (OrtException e) {
      throw new IOException("the model does not load: " + e.getMessage(), e);
    }
  }

  private static InputStream resource(String name) throws IOException {
    InputStream in = OnnxEncoder.class.getResourceAsStream("/" + name);
    if (in == null) {
      throw new FileNotFoundException(name + " is not on the class path");
    }
    return in;
  }

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public float[][] encode(List<String> texts, IntConsumer done) {
    long[][] tokens =
        texts.parallelStream()
            .map(text -> tokenizer.encode(text, MOST_TOKENS))
            .toArray(long[][]::new);
    Integer[] order = IntStream.range(0, tokens.length).boxed().toArray(Integer[]::new);
    Arrays.sort(order, Comparator.comparingInt(i -> tokens[i].length));
    List<Integer[]> batches = new ArrayList<>();
    for (int from = 0; from < order.length; from += BATCH) {
      batches.add(Arrays.copyOfRange(order, from, Math.min(order.length, from + BATCH)));
    }
    float[][] vectors = new float[tokens.length][];
    AtomicInteger finished = new AtomicInteger();
    batches.parallelStream()
        .forEach(
            batch -> {
              run(batch, tokens, vectors);
              done.accept(finished.addAndGet(batch.length));
            });
    return vectors;
  }

  private void run(Integer[] batch, long[][] tokens, float[][] vectors) {
    int length = Arrays.stream(batch).mapToInt(i -> tokens[i].length).max().orElseThrow();
    long[][] ids = new long[batch.length][length];
    long[][] mask = new long[batch.length][length];
    for (int row = 0; row < batch.length; row++) {
      long[] sentence = tokens[batch[row]];
      System.arraycopy(sentence, 0, ids[row], 0, sentence.length);
      Arrays.fill(mask[row], 0, sentence.length, 1);
    }
    try (OnnxTensor input = OnnxTensor.createTensor(environment, ids);
        OnnxTensor attention = OnnxTensor.createTensor(environment, mask);
        OnnxTensor types = OnnxTensor.createTensor(environment, new long[batch.length][length]);
        OrtSession.Result result =
            session.run(
                Map.of("input_ids", input, "attention_mask", attention, "token_type_ids", types))) {
      FloatBuffer states = ((OnnxTensor) result.get(0)).getFloatBuffer();
      int dimension = states.remaining() / (batch.length * length);
      for (int row = 0; row < batch.length; row++) {
        vectors[batch[row]] =
            mean(states, row * length * dimension, tokens[batch[row]].length, dimension);
      }
    } catch (OrtException e) {
      throw new IllegalStateException("the model failed: " + e.getMessage(), e);
    }
  }

  /** The mean of a sentence's token states, scaled to unit length. */
  private static float[] mean(FloatBuffer states, int from, int length, int dimension) {
    float[] mean = new float[dimension];
    for (int token = 0; token < length; token++) {
      for (int i = 0; i < dimension; i++) {
        mean[i] += states.get(from + token * dimension + i);
      }
    }
    double norm = 0;
    for (float value : mean) {
      norm += (double) value * value;
    }
    float scale = (float) (1 / Math.sqrt(norm));
    for (int i = 0; i < dimension; i++) {
      mean[i] *= scale;
    }
    return mean;
  }

  @Override
  public void close() {
    try {
      session.close();
    } catch (OrtException e) {
      throw new IllegalStateException("the model was not freed: " + e.getMessage(), e);
    }
  }
}
