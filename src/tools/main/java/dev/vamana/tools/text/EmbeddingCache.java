package dev.vamana.tools.text;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
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
    try {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      digest.update(model.getBytes(StandardCharsets.UTF_8));
      for (String sentence : sentences) {
        digest.update((byte) 0);
        digest.update(sentence.getBytes(StandardCharsets.UTF_8));
      }
      String name = HexFormat.of().formatHex(digest.digest(), 0, 8);
      return folder.resolve("embeddings-" + name + ".bin");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }

  private static float[][] read(Path file, int count) throws IOException {
    try (DataInputStream in =
        new DataInputStream(new BufferedInputStream(Files.newInputStream(file)))) {
      int rows = in.readInt();
      int dimension = in.readInt();
      if (rows != count || dimension < 1) {
        throw new IOException(file + " holds " + rows + " embeddings, wanted " + count);
      }
      float[][] vectors = new float[rows][dimension];
      for (float[] vector : vectors) {
        for (int i = 0; i < dimension; i++) {
          vector[i] = in.readFloat();
        }
      }
      return vectors;
    }
  }

  private void write(Path file, float[][] vectors) throws IOException {
    Files.createDirectories(folder);
    // Moved into place when complete: a demo that is ended meanwhile leaves no half file.
    Path part = file.resolveSibling(file.getFileName() + ".part");
    try (DataOutputStream out =
        new DataOutputStream(new BufferedOutputStream(Files.newOutputStream(part)))) {
      out.writeInt(vectors.length);
      out.writeInt(vectors.length == 0 ? 1 : vectors[0].length);
      for (float[] vector : vectors) {
        for (float value : vector) {
          out.writeFloat(value);
        }
      }
    }
    Files.move(part, file, StandardCopyOption.REPLACE_EXISTING);
  }
}
