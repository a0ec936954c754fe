package dev.vamana.elasticsearch.index;

import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.FilterCodec;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.elasticsearch.index.codec.CodecProvider;

/**
 * Gives the stock codecs of an index with this plugin's vector format for the fields that can use
 * it. A codec that does not choose its vector format per field is returned unchanged.
 */
final class VamanaCodecProvider implements CodecProvider {
  private final CodecProvider stock;
  private final VectorFieldFormats formats;
  private final StockFieldLog log;

  VamanaCodecProvider(CodecProvider stock, VectorFieldFormats formats, StockFieldLog log) {
    this.stock = stock;
    this.formats = formats;
    this.log = log;
  }

  @Override
  public Codec codec(String name) {
    Codec codec = stock.codec(name);
    if (codec.knnVectorsFormat() instanceof PerFieldKnnVectorsFormat perField) {
      return new WritingCodec(codec, new FieldFormats(perField, formats));
    }
    log.codecKeepsStockFormat(codec.getName());
    return codec;
  }

  @Override
  public String[] availableCodecs() {
    return stock.availableCodecs();
  }

  /**
   * Differs from its delegate only when segments are written. It keeps the delegate's name, by
   * which Lucene opens the segments again; the vector formats are then found by the names recorded
   * for each field.
   */
  private static final class WritingCodec extends FilterCodec {
    private final KnnVectorsFormat vectors;

    WritingCodec(Codec delegate, KnnVectorsFormat vectors) {
      super(delegate.getName(), delegate);
      this.vectors = vectors;
    }

    @Override
    public KnnVectorsFormat knnVectorsFormat() {
      return vectors;
    }
  }

  private static final class FieldFormats extends PerFieldKnnVectorsFormat {
    private final PerFieldKnnVectorsFormat stock;
    private final VectorFieldFormats formats;

    FieldFormats(PerFieldKnnVectorsFormat stock, VectorFieldFormats formats) {
      this.stock = stock;
      this.formats = formats;
    }

    @Override
    public KnnVectorsFormat getKnnVectorsFormatForField(String field) {
      var vamana = formats.vamanaFormat(field);
      return vamana.isPresent() ? vamana.get() : stock.getKnnVectorsFormatForField(field);
    }
  }
}
