package dev.vamana.elasticsearch.codebook.ingest;

import dev.vamana.elasticsearch.codebook.sample.Samples;
import java.util.Objects;
import org.elasticsearch.cluster.ClusterChangedEvent;
import org.elasticsearch.cluster.ClusterStateListener;
import org.elasticsearch.cluster.metadata.ProjectMetadata;
import org.elasticsearch.ingest.IngestMetadata;

/** Drops samples that no pipeline feeds any more, or that pipelines feed with other options. */
final class PipelineWatch implements ClusterStateListener {
  private final Samples samples;

  /**
   * Makes a watch.
   *
   * @param samples the samples to drop from
   */
  PipelineWatch(Samples samples) {
    this.samples = samples;
  }

  @Override
  public void clusterChanged(ClusterChangedEvent event) {
    if (event.metadataChanged() && pipelinesChanged(event)) {
      samples.keepOnly(Pipelines.fed(event.state()));
    }
  }

  private static boolean pipelinesChanged(ClusterChangedEvent event) {
    for (ProjectMetadata project : event.state().metadata().projects().values()) {
      ProjectMetadata before = event.previousState().metadata().projects().get(project.id());
      IngestMetadata now = project.custom(IngestMetadata.TYPE);
      IngestMetadata then = before == null ? null : before.custom(IngestMetadata.TYPE);
      if (!Objects.equals(now, then)) {
        return true;
      }
    }
    return false;
  }
}
