package dev.vamana.cuda.question;

import dev.vamana.ivf.Centroids;
import dev.vamana.ivf.CentroidsId;
import dev.vamana.ivf.CodeKind;
import dev.vamana.ivf.InvertedLists;
import dev.vamana.ivf.ListBuilder;
import dev.vamana.ivf.Rotation;
import dev.vamana.pq.PqEngine;
import dev.vamana.vectors.FileRegion;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.List;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.ByteBuffersDataOutput;
import org.apache.lucene.store.ByteBuffersIndexInput;
import org.apache.lucene.store.ByteBuffersIndexOutput;

/** Inverted lists of {@link KnownVectors} on the heap, around some of the vectors. */
final class KnownLists {

  private static final int LISTS = 8;
  private static final long SEED = 0x1157_5L;

  private KnownLists() {}

  /** Makes the lists of vectors, compared by squared distances. */
  static InvertedLists of(KnownVectors known, KnnVectorValues values, CodeKind codes)
      throws IOException {
    VectorSimilarityFunction similarity = VectorSimilarityFunction.EUCLIDEAN;
    ByteBuffersDataOutput bytes = new ByteBuffersDataOutput();
    ListBuilder.Written written;
    try (ByteBuffersIndexOutput out = new ByteBuffersIndexOutput(bytes, "lists", "lists")) {
      written =
          new ListBuilder(
                  values,
                  similarity,
                  codes,
                  centroids(known),
                  PqEngine.NONE,
                  Workers.callingThread(),
                  AbortCheck.NEVER)
              .write(out, List.of());
    }
    return new InvertedLists(
        FileRegion.of(new ByteBuffersIndexInput(bytes.toDataInput(), "lists"), 0, bytes.size()),
        written.shape(),
        written.facts(),
        values.getEncoding(),
        similarity);
  }

  private static Centroids centroids(KnownVectors known) {
    Rotation rotation = new Rotation(KnownVectors.DIMENSION, SEED);
    float[][] plain = new float[LISTS][];
    float[][] rotated = new float[LISTS][rotation.padded()];
    for (int list = 0; list < LISTS; list++) {
      plain[list] = known.floats().get(list * KnownVectors.SIZE / LISTS);
      rotation.apply(plain[list], rotated[list]);
    }
    CentroidsId id = new CentroidsId(new byte[CentroidsId.BYTES]);
    return new Centroids(id, SEED, rotation, null, plain, rotated, Float.NaN);
  }
}
