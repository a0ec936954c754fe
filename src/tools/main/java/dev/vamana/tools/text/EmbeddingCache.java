package dev.vamana.tools.text;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.UUID;
import java.util.function.IntConsumer;

/**
 * Embeddings kept in files, so that the same sentences are encoded once. A file's name is a digest
 * of the model's name and the sentences.
 *
 * @param folder is created when something is written
 */
record EmbeddingCache(Path folder) {

  /** The embeddings of these sentences, from the file if there is one. */
  float[][] encode(SentenceEncoder encoder, List<String> sentences, IntConsumer done)
      throws IOException {
    Path file = file(encoder.name(), sentences);
    if (Files.exists(file)) {
      return read(file, sentences.size());
    }
    float[][] vectors = encoder.encode(sentences, done);
    write(file, vectors);
    return vectors;
  }

  private Path file(String model, List<String> sentences) {
    byte[] all = (model + '\0' + String.join("\0", sentences)).getBytes(StandardCharsets.UTF_8);
    return folder.resolve("embeddings-" + UUID.nameUUIDFromBytes(all) + ".bin");
  }

  private static float[][] read(Path file, int count) throws IOException {
    FloatBuffer values = ByteBuffer.wrap(Files.readAllBytes(file)).asFloatBuffer();
    float[][] vectors = new float[count][values.remaining() / count];
    for (float[] vector : vectors) {
      values.get(vector);
    }
    return vectors;
  }

  private void write(Path file, float[][] vectors) throws IOException {
    Files.createDirectories(folder);
    int dimension = vectors[0].length;
    ByteBuffer bytes = ByteBuffer.allocate(vectors.length * dimension * Float.BYTES);
    FloatBuffer values = bytes.asFloatBuffer();
    for (float[] vector : vectors) {
      values.put(vector);
    }
    // Moved into place when complete: a demo that is ended meanwhile leaves no half file.
    Path part = file.resolveSibling(file.getFileName() + ".part");
    Files.write(part, bytes.array());
    Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
  }
}
