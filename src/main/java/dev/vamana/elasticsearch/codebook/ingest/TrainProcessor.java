package dev.vamana.elasticsearch.codebook.ingest;

import dev.vamana.elasticsearch.codebook.sample.Samples;
import java.util.Map;
import org.elasticsearch.cluster.metadata.ProjectId;
import org.elasticsearch.common.util.concurrent.ThreadContext;
import org.elasticsearch.ingest.AbstractProcessor;
import org.elasticsearch.ingest.IngestDocument;
import org.elasticsearch.ingest.Processor;

/**
 * Offers the vectors of documents to a codebook's sample. It never changes or fails a document:
 * documents that cannot be sampled are only counted, so {@code ignore_failure} and {@code
 * on_failure} have no effect.
 */
final class TrainProcessor extends AbstractProcessor {
  /** The processor's type in pipelines. */
  static final String TYPE = "vamana_train";

  private final TrainOptions options;
  private final Samples samples;
  private final ThreadContext context;

  TrainProcessor(
      String tag,
      String description,
      TrainOptions options,
      Samples samples,
      ThreadContext context) {
    super(tag, description);
    this.options = options;
    this.samples = samples;
    this.context = context;
  }

  @Override
  public String getType() {
    return TYPE;
  }

  TrainOptions options() {
    return options;
  }

  @Override
  public IngestDocument execute(IngestDocument document) {
    if (samples.wanted(options.codebook()) && !Simulation.in(context)) {
      sample(document);
    }
    return document;
  }

  private void sample(IngestDocument document) {
    Object value;
    try {
      value = document.getFieldValue(options.field(), Object.class, true);
    } catch (IllegalArgumentException e) {
      // the path leads through a value that is not an object
      value = null;
    }
    if (value == null) {
      samples.countMissing(options.codebook(), options.sample());
      return;
    }
    float[] vector = VectorValue.parse(value, options.sample().space().dims());
    if (vector == null || options.sample().space().prepare(vector) != null) {
      samples.countRejected(options.codebook(), options.sample());
    } else {
      samples.offer(options.codebook(), options.sample(), vector);
    }
  }

  /** Makes the processors of pipelines. */
  static final class Factory implements Processor.Factory {
    private final Samples samples;
    private final ThreadContext context;

    Factory(Samples samples, ThreadContext context) {
      this.samples = samples;
      this.context = context;
    }

    @Override
    public TrainProcessor create(
        Map<String, Processor.Factory> registry,
        String tag,
        String description,
        Map<String, Object> config,
        ProjectId project) {
      return new TrainProcessor(tag, description, TrainOptions.read(tag, config), samples, context);
    }
  }
}
