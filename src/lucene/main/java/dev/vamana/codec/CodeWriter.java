package dev.vamana.codec;

import dev.vamana.pq.Codebook;
import dev.vamana.pq.PqEncoder;
import dev.vamana.pq.PqEngine;
import dev.vamana.pq.RowSource;
import dev.vamana.pq.StoredRows;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.vectors.FloatVectors;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.IndexOutput;

/**
 * Writes the codes of all vectors of a field, block by block. A code is copied if a merge's source
 * segment has it, and computed otherwise.
 */
final class CodeWriter {

  private static final int BLOCK = 8192;

  // larger than BLOCK, because a device must have enough work to pay for the transfer
  private static final int ENGINE_BLOCK = 1 << 16;

  // vectors encoded together: few enough that they stay in the cache beside the centroids
  private static final int ENCODED_TOGETHER = 32;

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
   * @param source codes that earlier segments made with the same codebook
   */
  void write(IndexOutput out, KnnVectorValues vectors, SourceCodes source) throws IOException {
    int codeLength = codebook.layout().count();
    int size = vectors.size();
    int encoded = size - source.count();
    try (PqEngine.Encoder engine =
        ExecutorRegistry.quantizer().encoder(codebook, encoded, workers, abort)) {
      int block = Math.min(size, engine == null ? BLOCK : ENGINE_BLOCK);
      byte[] codes = new byte[block * codeLength];
      for (long next = 0; next < size; next += block) {
        int start = (int) next;
        int to = (int) Math.min(size, next + block);
        if (engine == null || encode(engine, vectors, source, codes, start, to) == false) {
          workers.forEachRange(
              start, to, () -> new RangeEncoder(copy(vectors), source, codes, start)::write, abort);
        }
        out.writeBytes(codes, 0, (to - start) * codeLength);
      }
    }
  }

  /** Fills in the codes of {@code start <= ordinal < to}; returns false if the engine declined. */
  private boolean encode(
      PqEngine.Encoder engine,
      KnnVectorValues vectors,
      SourceCodes source,
      byte[] codes,
      int start,
      int to)
      throws IOException {
    int codeLength = codebook.layout().count();
    SourceCodes.Reader known = source.open();
    int[] unknown = new int[to - start];
    int count = 0;
    for (int ordinal = start; ordinal < to; ordinal++) {
      if (known.read(ordinal, codes, (ordinal - start) * codeLength) == false) {
        unknown[count++] = ordinal;
      }
    }
    if (count == 0) {
      return true;
    }
    boolean all = count == to - start;
    byte[] found = all ? codes : new byte[count * codeLength];
    RowSource rows = () -> new StoredRows(copy(vectors), similarity, unknown);
    if (engine.encode(rows, count, found) == false) {
      return false;
    }
    for (int i = 0; all == false && i < count; i++) {
      System.arraycopy(found, i * codeLength, codes, (unknown[i] - start) * codeLength, codeLength);
    }
    return true;
  }

  private static KnnVectorValues copy(KnnVectorValues vectors) throws IOException {
    synchronized (vectors) {
      return vectors.copy();
    }
  }

  /** Fills in the codes of ranges of ordinals, for one thread. */
  private final class RangeEncoder {
    private final PqEncoder encoder = new PqEncoder(codebook);
    private final int dimension = codebook.layout().dims();
    private final int codeLength = codebook.layout().count();
    private final float[] vector = new float[dimension];
    private final float[] rows = new float[ENCODED_TOGETHER * dimension];
    private final FloatVectors floats;
    private final SourceCodes.Reader reader;
    private final byte[] codes;
    private final int start;

    /**
     * Makes an encoder.
     *
     * @param codes receives the codes
     * @param start ordinal of the first code in {@code codes}
     */
    RangeEncoder(KnnVectorValues vectors, SourceCodes source, byte[] codes, int start)
        throws IOException {
      this.floats = new FloatVectors(vectors, similarity);
      this.reader = source.open();
      this.codes = codes;
      this.start = start;
    }

    void write(int from, int to) throws IOException {
      int waiting = 0;
      for (int ordinal = from; ordinal < to; ordinal++) {
        if (reader.read(ordinal, codes, (ordinal - start) * codeLength)) {
          encode(waiting, ordinal);
          waiting = 0;
          continue;
        }
        floats.read(ordinal, vector);
        System.arraycopy(vector, 0, rows, waiting * dimension, dimension);
        if (++waiting == ENCODED_TOGETHER) {
          encode(waiting, ordinal + 1);
          waiting = 0;
        }
      }
      encode(waiting, to);
    }

    /** Encodes the waiting rows, whose ordinals end right before {@code end}. */
    private void encode(int waiting, int end) {
      if (waiting > 0) {
        encoder.encodeBlock(rows, waiting, codes, (end - waiting - start) * codeLength);
      }
    }
  }
}
