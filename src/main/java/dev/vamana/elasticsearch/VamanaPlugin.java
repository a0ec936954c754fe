package dev.vamana.elasticsearch;

import java.util.List;
import java.util.Optional;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.core.TimeValue;
import org.elasticsearch.index.IndexSettings;
import org.elasticsearch.index.engine.EngineFactory;
import org.elasticsearch.plugins.EnginePlugin;
import org.elasticsearch.plugins.Plugin;
import org.elasticsearch.threadpool.ExecutorBuilder;
import org.elasticsearch.threadpool.ScalingExecutorBuilder;

/**
 * Lets indices with {@code index.vamana.enabled} store and search their {@code dense_vector} fields
 * as Vamana graphs.
 *
 * <p>Searching needs nothing from this class: Lucene finds the format of a segment by its name. The
 * plugin decides what new segments are written with, and brings the threads that build graphs.
 */
public final class VamanaPlugin extends Plugin implements EnginePlugin {
  /** Name of the thread pool that builds graphs. */
  static final String BUILD_POOL = "vamana_build";

  private static final TimeValue BUILD_THREAD_KEEP_ALIVE = TimeValue.timeValueSeconds(30);

  private final int buildThreads;

  /**
   * Called by the node.
   *
   * @param settings the node's settings
   */
  public VamanaPlugin(Settings settings) {
    buildThreads = VamanaSettings.BUILD_THREADS.get(settings);
  }

  @Override
  public List<Setting<?>> getSettings() {
    return VamanaSettings.ALL;
  }

  @Override
  public List<ExecutorBuilder<?>> getExecutorBuilders(Settings settings) {
    int threads = VamanaSettings.BUILD_THREADS.get(settings);
    return List.of(
        new ScalingExecutorBuilder(BUILD_POOL, 0, threads, BUILD_THREAD_KEEP_ALIVE, true));
  }

  @Override
  public Optional<EngineFactory> getEngineFactory(IndexSettings indexSettings) {
    return VamanaEngineFactory.appliesTo(indexSettings)
        ? Optional.of(new VamanaEngineFactory(indexSettings, buildThreads))
        : Optional.empty();
  }
}
