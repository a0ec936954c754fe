package dev.vamana.tools.text;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;

/**
 * Passages, questions and their embeddings.
 *
 * @param passages in the order of the vectors
 * @param vectors embeddings of the passages, of unit length
 * @param questions in words
 * @param questionVectors embeddings of the questions, of unit length
 */
public record TextSet(
    List<Passage> passages, float[][] vectors, List<String> questions, float[][] questionVectors) {

  private static final long SEED = 20260901;

  /**
   * Reads the passages of Javadoc artefacts and encodes them, or takes the embeddings of an earlier
   * run.
   *
   * @param javadoc the artefacts
   * @param cache folder for embeddings
   * @param limit passages to use at most
   * @param questions to make at most
   * @param encoded is told how many of how many sentences are encoded
   * @throws IllegalArgumentException if there are no artefacts
   */
  public static TextSet of(
      JavadocFolder javadoc,
      SentenceEncoder encoder,
      Path cache,
      int limit,
      int questions,
      BiConsumer<Integer, Integer> encoded)
      throws IOException {
    List<Passage> all = javadoc.passages();
    List<Passage> passages = all.size() > limit ? spread(all, limit) : all;
    List<String> sentences = passages.stream().map(Passage::sentence).toList();
    List<String> asked = Questions.about(passages, questions, SEED);
    EmbeddingCache embeddings = new EmbeddingCache(cache);
    float[][] vectors =
        embeddings.encode(encoder, sentences, done -> encoded.accept(done, sentences.size()));
    return new TextSet(passages, vectors, asked, encoder.encode(asked, done -> {}));
  }

  /** So many passages from all artefacts, evenly. */
  private static List<Passage> spread(List<Passage> all, int limit) {
    return IntStream.range(0, limit)
        .mapToObj(i -> all.get((int) ((long) i * all.size() / limit)))
        .toList();
  }
}
