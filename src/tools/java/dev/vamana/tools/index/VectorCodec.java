package dev.vamana.tools.index;

import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.FilterCodec;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;

/** A codec that stores the vectors of every field in one format. */
public final class VectorCodec extends FilterCodec {
  private final KnnVectorsFormat perField;

  /**
   * Makes a codec with the name of {@code standard}, by which Lucene opens its segments again.
   *
   * @param standard codec of everything except vectors; it must have a format per field for these,
   *     as Lucene's own codecs have, or Lucene opens them in another format
   * @param vectors format of the vectors of every field
   */
  public VectorCodec(Codec standard, KnnVectorsFormat vectors) {
    super(standard.getName(), standard);
    perField =
        new PerFieldKnnVectorsFormat() {
          @Override
          public KnnVectorsFormat getKnnVectorsFormatForField(String field) {
            return vectors;
          }
        };
  }

  @Override
  public KnnVectorsFormat knnVectorsFormat() {
    return perField;
  }
}
