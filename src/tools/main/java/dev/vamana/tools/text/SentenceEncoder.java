package dev.vamana.tools.text;

import java.util.List;
import java.util.function.IntConsumer;

/** Turns sentences into vectors of unit length whose cosine tells how near their meanings are. */
public interface SentenceEncoder extends AutoCloseable {

  /** The model's name, for readers and for the name of cached embeddings. */
  String name();

  /**
   * Encodes sentences on all processors.
   *
   * @param texts in any language the model knows; each is cut after the model's token limit
   * @param done is told, from any thread, how many sentences are encoded so far
   * @return one vector a sentence, in the same order, all of the same dimension
   * @throws IllegalStateException if the model fails
   */
  float[][] encode(List<String> texts, IntConsumer done);

  /** Frees the model. */
  @Override
  void close();
}
