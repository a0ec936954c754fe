package dev.vamana.elasticsearch.index;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.elasticsearch.gpu.IndexWarming;
import dev.vamana.elasticsearch.search.IndexWalks;
import dev.vamana.work.Workers;
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
 * Opens the shards of one index with the stock engine, but with another codec and merge policy. The
 * codec writes the vector fields in this plugin's format. The merge policy makes a forced merge
 * rewrite segments whose vector fields are not in the format of the settings.
 */
public final class VamanaEngineFactory implements EngineFactory {
  /** Setting of the follower indices of cross-cluster replication, which have their own engine. */
  private static final String FOLLOWER_INDEX = "index.xpack.ccr.following_index";

  private final IndexSettings indexSettings;
  private final boolean enabled;
  private final VamanaParameters parameters;
  private final NodeBuilding building;
  private final IndexCodebooks codebooks;
  private final StockFieldLog log;

  public VamanaEngineFactory(IndexSettings indexSettings, NodeBuilding building) {
    this.indexSettings = indexSettings;
    Settings settings = indexSettings.getSettings();
    String index = indexSettings.getIndex().getName();
    this.enabled = VamanaSettings.ENABLED.get(settings);
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
    return VamanaSettings.ENABLED.exists(settings)
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
    return new InternalEngine(
        EngineConfig.builder(config)
            .codecProvider(enabled ? new VamanaCodecProvider(codecs, formats, log) : codecs)
            .warmer(
                new ReplacedReaders(
                        config.getStore(), ReplacedReaders.generic(config.getThreadPool()))
                    .warmer(
                        IndexWalks.warmer(
                            IndexWarming.warmer(config.getWarmer(), indexSettings), indexSettings)))
            .mergePolicy(new ReformattingMergePolicy(config.getMergePolicy(), formats))
            .build());
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
