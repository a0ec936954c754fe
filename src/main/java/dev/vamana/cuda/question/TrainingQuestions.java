package dev.vamana.cuda.question;

import dev.vamana.cuda.driver.CudaDriver;
import dev.vamana.cuda.memory.DeviceBudget;
import dev.vamana.cuda.memory.SessionHostMemory;
import dev.vamana.cuda.training.DeviceEncoder;
import dev.vamana.cuda.training.TrainingDevice;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.PqTrainer;
import dev.vamana.pq.RowSource;
import dev.vamana.pq.SubspaceLayout;
import dev.vamana.pq.TrainingSample;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Trainings and encodings with parts of every length for which there are kernels of their own. 256
 * vectors are the sample, so each is a centroid of its own; and then they are encoded.
 */
final class TrainingQuestions implements Questions {

  private static final int[] LENGTHS = {4, 8, 16, 20};
  private static final int PARTS = 2;
  private static final int BUFFERS = 2;
  private static final long ROUND_SEED = 1_000;
  private static final long SEED = 0x7_EAC4E5L;

  // a float seed may be drawn twice where sums round; no more than that
  private static final int LEAST_FOUND = Codebook.CENTROIDS - 8;

  private final TrainingDevice device;
  private final int round;

  /**
   * Allocates nothing yet.
   *
   * @param round number of the round, by which vectors differ
   */
  TrainingQuestions(CudaDriver driver, SessionHostMemory account, int round) {
    this.round = round;
    this.device = new TrainingDevice(driver, account, DeviceBudget.UNLIMITED, BUFFERS);
  }

  @Override
  public List<Question> all() {
    List<Question> questions = new ArrayList<>();
    for (int length : LENGTHS) {
      questions.add(new Question("training of parts of " + length, () -> train(length)));
      questions.add(new Question("encoding of parts of " + length, () -> encode(length)));
    }
    return questions;
  }

  private float[][] vectors(int length) {
    SplittableRandom random = new SplittableRandom(SEED + ROUND_SEED * round + length);
    float[][] vectors = new float[Codebook.CENTROIDS][];
    for (int i = 0; i < vectors.length; i++) {
      vectors[i] = KnownVectors.toFloats(KnownVectors.vector(random, PARTS * length));
    }
    return vectors;
  }

  private void train(int length) throws IOException {
    float[][] vectors = vectors(length);
    float[] centroids =
        device.train(
            TrainingSample.of(PARTS * length, vectors),
            new SubspaceLayout(PARTS * length, PARTS),
            PqTrainer.Options.defaults(SEED),
            Workers.callingThread(),
            AbortCheck.NEVER);
    for (int part = 0; part < PARTS; part++) {
      int found = 0;
      for (float[] vector : vectors) {
        found += contains(centroids, part, vector, length) ? 1 : 0;
      }
      Question.check(
          found >= LEAST_FOUND ? null : found + " of " + vectors.length + " vectors are centroids");
    }
  }

  private static boolean contains(float[] centroids, int part, float[] vector, int length) {
    for (int c = 0; c < Codebook.CENTROIDS; c++) {
      if (equal(
          centroids, (part * Codebook.CENTROIDS + c) * length, vector, part * length, length)) {
        return true;
      }
    }
    return false;
  }

  private static boolean equal(float[] a, int atA, float[] b, int atB, int length) {
    for (int d = 0; d < length; d++) {
      if (a[atA + d] != b[atB + d]) {
        return false;
      }
    }
    return true;
  }

  private void encode(int length) throws IOException {
    float[][] vectors = vectors(length);
    // another order for each length: an earlier answer is a wrong one
    Codebook codebook = codebook(shuffled(vectors, length), length);
    byte[] codes = new byte[vectors.length * PARTS];
    try (DeviceEncoder encoder = device.encoder(codebook, AbortCheck.NEVER)) {
      encoder.encode(
          RowSource.of(vectors), vectors.length, codes, Workers.callingThread(), AbortCheck.NEVER);
    }
    for (int i = 0; i < vectors.length; i++) {
      for (int part = 0; part < PARTS; part++) {
        int code = codes[i * PARTS + part] & 0xFF;
        int at = (part * Codebook.CENTROIDS + code) * length;
        Question.check(
            equal(codebook.centroids(), at, vectors[i], part * length, length)
                ? null
                : "code " + code + " of part " + part + " of vector " + i);
      }
    }
  }

  private static float[][] shuffled(float[][] vectors, int length) {
    float[][] shuffled = new float[vectors.length][];
    for (int i = 0; i < vectors.length; i++) {
      // an odd factor meets every place once
      shuffled[(2 * length + 1) * i % vectors.length] = vectors[i];
    }
    return shuffled;
  }

  /** Returns a codebook whose centroids are the parts of the first 256 vectors. */
  static Codebook codebook(float[][] vectors, int length) {
    int dims = vectors[0].length;
    float[] centroids = new float[Codebook.CENTROIDS * dims];
    for (int part = 0; part < dims / length; part++) {
      for (int c = 0; c < Codebook.CENTROIDS; c++) {
        System.arraycopy(
            vectors[c], part * length, centroids, (part * Codebook.CENTROIDS + c) * length, length);
      }
    }
    return new Codebook(
        KnownQuestions.CODEBOOK, new SubspaceLayout(dims, dims / length), centroids);
  }

  @Override
  public void close() {
    device.free();
  }
}
