package dev.vamana.tools.gpu.node;

import java.util.List;
import java.util.Optional;
import org.apache.lucene.codecs.Codec;
import org.apache.lucene.codecs.FilterCodec;
import org.apache.lucene.codecs.KnnVectorsFormat;
import org.apache.lucene.codecs.lucene99.Lucene99HnswVectorsFormat;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.index.IndexSettings;
import org.elasticsearch.index.codec.CodecProvider;
import org.elasticsearch.index.engine.EngineConfig;
import org.elasticsearch.index.engine.EngineFactory;
import org.elasticsearch.index.engine.InternalEngine;
import org.elasticsearch.plugins.EnginePlugin;
import org.elasticsearch.plugins.Plugin;

/**
 * A plugin that stores the vectors of indices with {@code index.plain_hnsw} in Lucene's own HNSW
 * format, with Lucene's scorers. The suite's node lacks the native distance functions of the
 * distribution, without which the stock format is slower than Lucene's, so a comparison with the
 * stock format alone would favour this project.
 */
public final class PlainHnswPlugin extends Plugin implements EnginePlugin {

  static final String NAME = "plain-hnsw";

  /** Whether an index uses the format. */
  static final Setting<Boolean> PLAIN_HNSW =
      Setting.boolSetting("index.plain_hnsw", false, Property.IndexScope);

  @Override
  public List<Setting<?>> getSettings() {
    return List.of(PLAIN_HNSW);
  }

  @Override
  public Optional<EngineFactory> getEngineFactory(IndexSettings index) {
    return PLAIN_HNSW.get(index.getSettings())
        ? Optional.of(
            config ->
                new InternalEngine(
                    EngineConfig.builder(config)
                        .codecProvider(new PlainCodecs(config.getCodecProvider()))
                        .build()))
        : Optional.empty();
  }

  private static final class PlainCodecs implements CodecProvider {
    private final CodecProvider stock;

    PlainCodecs(CodecProvider stock) {
      this.stock = stock;
    }

    @Override
    public Codec codec(String name) {
      return new PlainCodec(stock.codec(name));
    }

    @Override
    public String[] availableCodecs() {
      return stock.availableCodecs();
    }
  }

  private static final class PlainCodec extends FilterCodec {
    private final KnnVectorsFormat vectors =
        new PerFieldKnnVectorsFormat() {
          @Override
          public KnnVectorsFormat getKnnVectorsFormatForField(String field) {
            return new Lucene99HnswVectorsFormat();
          }
        };

    PlainCodec(Codec stock) {
      super(stock.getName(), stock);
    }

    @Override
    public KnnVectorsFormat knnVectorsFormat() {
      return vectors;
    }
  }
}
