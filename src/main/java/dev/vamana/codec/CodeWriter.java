package dev.vamana.codec;

import dev.vamana.pq.Codebook;
import dev.vamana.pq.PqEncoder;
import dev.vamana.vectors.FloatVectors;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.IndexOutput;

/**
 * Writes the codes of all vectors of a field, block by block: copied where a merge's source has
 * them, else encoded.
 */
final class CodeWriter {

  private static final int BLOCK = 8192;

  private final Codebook codebook;
  private final VectorSimilarityFunction similarity;
  private final Workers workers;
  private final AbortCheck abort;

  CodeWriter(
      Codebook codebook, VectorSimilarityFunction similarity, Workers workers, AbortCheck abort) {
    this.codebook = codebook;
    this.similarity = similarity;
    this.workers = workers;
    this.abort = abort;
  }

  /**
   * Writes the codes of all vectors, in ordinal order.
   *
   * @param source codes of the same codebook that earlier segments hold
   */
  void write(IndexOutput out, KnnVectorValues vectors, SourceCodes source) throws IOException {
    int codeLength = codebook.layout().count();
    int size = vectors.size();
    byte[] codes = new byte[Math.min(BLOCK, size) * codeLength];
    for (long next = 0; next < size; next += BLOCK) {
      int start = (int) next;
      int to = (int) Math.min(size, next + BLOCK);
      workers.forEach(
          start,
          to,
          () -> {
            PqEncoder encoder = new PqEncoder(codebook);
            FloatVectors floats = new FloatVectors(copy(vectors), similarity);
            SourceCodes.Reader reader = source.open();
            float[] vector = new float[vectors.dimension()];
            return ordinal -> {
              int at = (ordinal - start) * codeLength;
              if (reader.read(ordinal, codes, at) == false) {
                floats.read(ordinal, vector);
                encoder.encode(vector, codes, at);
              }
            };
          },
          abort);
      out.writeBytes(codes, 0, (to - start) * codeLength);
    }
  }

  private static KnnVectorValues copy(KnnVectorValues vectors) throws IOException {
    synchronized (vectors) {
      return vectors.copy();
    }
  }
}
