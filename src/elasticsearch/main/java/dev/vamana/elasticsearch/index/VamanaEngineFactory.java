package dev.vamana.elasticsearch.index;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.elasticsearch.gpu.IndexWarming;
import dev.vamana.elasticsearch.search.IndexWalks;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.io.UncheckedIOException;
import org.apache.lucene.index.IndexReader;
import org.elasticsearch.cluster.metadata.IndexMetadataVerifier;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexSettings;
import org.elasticsearch.index.IndexVersions;
import org.elasticsearch.index.codec.CodecProvider;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.engine.EngineConfig;
import org.elasticsearch.index.engine.EngineFactory;
import org.elasticsearch.index.engine.InternalEngine;
import org.elasticsearch.index.mapper.MapperService;
import org.elasticsearch.snapshots.SearchableSnapshotsSettings;

/**
 * Opens the shards of one index with the stock engine.
 *
 * <p>An index with {@code index.vamana.enabled} gets another codec and merge policy. The codec
 * writes the vector fields in this plugin's format. The merge policy makes a forced merge rewrite
 * segments whose vector fields are not in the format of the settings. An index with {@code
 * index.vamana.accelerate} gets other readers, which let the node's GPU search stock fields.
 */
public final class VamanaEngineFactory implements EngineFactory {
  /** Setting of the follower indices of cross-cluster replication, which have their own engine. */
  private static final String FOLLOWER_INDEX = "index.xpack.ccr.following_index";

  private final IndexSettings indexSettings;
  private final boolean enabled;
  private final boolean reformats;
  private final boolean accelerated;
  private final VamanaParameters parameters;
  private final NodeBuilding building;
  private final IndexCodebooks codebooks;
  private final StockFieldLog log;

  public VamanaEngineFactory(IndexSettings indexSettings, NodeBuilding building) {
    this.indexSettings = indexSettings;
    Settings settings = indexSettings.getSettings();
    String index = indexSettings.getIndex().getName();
    this.enabled = VamanaSettings.ENABLED.get(settings);
    this.reformats = VamanaSettings.ENABLED.exists(settings);
    this.accelerated = VamanaSettings.ACCELERATE.get(settings);
    this.parameters = VamanaSettings.parameters(settings);
    this.building = building;
    this.codebooks = new IndexCodebooks(index, CodebookSetting.of(settings), building.codebooks());
    log = new StockFieldLog(index);
  }

  /**
   * Whether this plugin makes the engines of an index. Elasticsearch rejects an index for which two
   * plugins offer engines, so the answer is false if the index needs another engine than the stock
   * one: followers of cross-cluster replication, searchable snapshots, and indices so old that they
   * are read-only. Segments in this plugin's format can be searched there as well.
   */
  public static boolean appliesTo(IndexSettings indexSettings) {
    Settings settings = indexSettings.getSettings();
    return (VamanaSettings.ENABLED.exists(settings) || VamanaSettings.ACCELERATE.get(settings))
        && !settings.getAsBoolean(FOLLOWER_INDEX, false)
        && !SearchableSnapshotsSettings.isSearchableSnapshotStore(settings)
        && IndexMetadataVerifier.isFullySupportedVersion(
            indexSettings.getIndexMetadata(), IndexVersions.MINIMUM_COMPATIBLE);
  }

  @Override
  public Engine newReadWriteEngine(EngineConfig config) {
    MapperService mappers = config.getMapperService();
    VectorFieldFormats formats =
        enabled
            ? VectorFieldFormats.vamana(
                field -> mappers.mappingLookup().getFieldType(field), format(config), log)
            : VectorFieldFormats.stock();
    CodecProvider codecs = config.getCodecProvider();
    AcceleratedEngine.Readers readers = accelerated ? new AcceleratedEngine.Readers() : null;
    EngineConfig changed =
        EngineConfig.builder(config)
            .codecProvider(enabled ? new VamanaCodecProvider(codecs, formats, log) : codecs)
            .warmer(
                new ReplacedReaders(
                        config.getStore(), ReplacedReaders.generic(config.getThreadPool()))
                    .warmer(warmer(config.getWarmer(), readers)))
            .mergePolicy(
                reformats
                    ? new ReformattingMergePolicy(config.getMergePolicy(), formats)
                    : config.getMergePolicy())
            .build();
    return accelerated ? new AcceleratedEngine(changed, readers) : new InternalEngine(changed);
  }

  /** Returns the engine's warmer, which gets each reader before searches do. */
  private Engine.Warmer warmer(Engine.Warmer stock, AcceleratedEngine.Readers readers) {
    IndexWalks walks = new IndexWalks(indexSettings);
    return reader -> {
      if (stock != null) {
        stock.warm(reader);
      }
      try {
        IndexReader seen = readers == null ? reader : readers.wrap(reader);
        walks.tell(seen);
        IndexWarming.keep(seen, indexSettings);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    };
  }

  private VamanaVectorsFormat format(EngineConfig config) {
    Workers workers =
        new Workers(config.getThreadPool().executor(NodeBuilding.POOL), building.threads());
    return new VamanaVectorsFormat(
        parameters,
        workers,
        codebooks,
        building.statistics(),
        building.memory().budget(),
        building.centroids().part(indexSettings.getUUID()));
  }
}
