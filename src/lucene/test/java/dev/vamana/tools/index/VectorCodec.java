package dev.vamana.tools.index;

import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.FilterCodec;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene104.Lucene104Codec;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;

/** A codec that stores the vectors of every field in one format. */
public final class VectorCodec extends FilterCodec {
  private final KnnVectorsFormat perField;

  /**
   * Makes a codec that has everything except vectors, and its name, from Lucene's own codec. By the
   * name Lucene opens segments again, with a format per field for vectors. The default codec would
   * not do: tests may draw one that has no format per field.
   *
   * @param vectors format of the vectors of every field
   */
  public VectorCodec(KnnVectorsFormat vectors) {
    this(new Lucene104Codec(), vectors);
  }

  private VectorCodec(Codec standard, KnnVectorsFormat vectors) {
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
