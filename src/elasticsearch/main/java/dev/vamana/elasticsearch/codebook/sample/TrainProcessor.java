package dev.vamana.elasticsearch.codebook.sample;

import dev.vamana.pq.SharedCodebook;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.elasticsearch.cluster.metadata.ProjectId;
import org.elasticsearch.common.breaker.CircuitBreakingException;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.VectorSimilarity;
import org.elasticsearch.ingest.AbstractProcessor;
import org.elasticsearch.ingest.ConfigurationUtils;
import org.elasticsearch.ingest.IngestDocument;
import org.elasticsearch.ingest.Processor;

/**
 * Offers the vectors of documents to a codebook's sample. It never changes or fails a document:
 * documents that cannot be sampled are only counted, so {@code ignore_failure} and {@code
 * on_failure} have no effect.
 */
public final class TrainProcessor extends AbstractProcessor {
  /** The processor's type in pipelines. */
  public static final String TYPE = "vamana_train";

  // default of min_documents, as a multiple of the sample size
  private static final int DOCUMENTS_FACTOR = 4;

  private final Options options;
  private final Samples samples;

  private TrainProcessor(String tag, String description, Options options, Samples samples) {
    super(tag, description);
    this.options = options;
    this.samples = samples;
  }

  /** Returns the factory of processors that feed samples. */
  public static Processor.Factory factory(Samples samples) {
    return (Map<String, Processor.Factory> registry,
        String tag,
        String description,
        Map<String, Object> config,
        ProjectId project) ->
        new TrainProcessor(tag, description, Options.read(tag, config), samples);
  }

  @Override
  public String getType() {
    return TYPE;
  }

  @Override
  public IngestDocument execute(IngestDocument document) {
    Sample sample = samples.wanted(options.codebook());
    if (sample == null) {
      return document;
    }
    if (!sample.options().equals(options.sample())) {
      sample.countRejected();
      return document;
    }
    Object value;
    try {
      value = document.getFieldValue(options.field(), Object.class, true);
    } catch (IllegalArgumentException e) {
      // the path leads through a value that is not an object
      value = null;
    }
    VectorSpace space = options.sample().space();
    float[] vector = value == null ? null : vector(value, space.dims());
    if (vector == null || !space.prepare(vector)) {
      sample.countRejected();
      return document;
    }
    try {
      sample.offer(vector);
    } catch (CircuitBreakingException e) {
      sample.countMissed();
    }
    return document;
  }

  /**
   * Reads a vector in the forms that a {@code dense_vector} of floats accepts.
   *
   * @param value a list of numbers, or big-endian 32-bit floats as bytes or in Base64
   * @param dims expected number of components
   * @return a new array, or null if the value has none of these forms
   */
  static float[] vector(Object value, int dims) {
    float[] vector = new float[dims];
    if (value instanceof List<?> list && list.size() == dims) {
      for (int i = 0; i < dims; i++) {
        if (!(list.get(i) instanceof Number number)) {
          return null;
        }
        vector[i] = number.floatValue();
      }
      return vector;
    }
    byte[] bytes;
    try {
      bytes =
          value instanceof String text
              ? Base64.getDecoder().decode(text)
              : value instanceof byte[] given ? given : new byte[0];
    } catch (IllegalArgumentException e) {
      return null;
    }
    if (bytes.length != dims * Float.BYTES) {
      return null;
    }
    ByteBuffer.wrap(bytes).asFloatBuffer().get(vector);
    return vector;
  }

  /**
   * The options of one processor.
   *
   * @param field path of the document's field
   * @param codebook name of the codebook
   * @param sample options of the sample
   */
  record Options(String field, String codebook, SampleOptions sample) {

    /**
     * Reads the options from a processor's configuration.
     *
     * @throws org.elasticsearch.ElasticsearchException if an option is missing or invalid; names
     *     the option
     */
    static Options read(String tag, Map<String, Object> config) {
      String field = fixed(tag, config, "field");
      String codebook = fixed(tag, config, "codebook");
      Integer dims = ConfigurationUtils.readIntProperty(TYPE, tag, config, "dims", null);
      String similarity =
          ConfigurationUtils.readStringProperty(
              TYPE, tag, config, "similarity", VectorSimilarity.COSINE.toString());
      int subspaces = ConfigurationUtils.readIntProperty(TYPE, tag, config, "subspaces", 0);
      int sampleSize =
          ConfigurationUtils.readIntProperty(
              TYPE, tag, config, "sample_size", SampleOptions.DEFAULT_SAMPLE_SIZE);
      int minDocuments =
          ConfigurationUtils.readIntProperty(
              TYPE, tag, config, "min_documents", DOCUMENTS_FACTOR * sampleSize);
      if (dims == null) {
        throw ConfigurationUtils.newConfigurationException(
            TYPE, tag, "dims", "required property is missing");
      }
      try {
        VectorSpace space = new VectorSpace(dims, VectorSpace.similarity(similarity));
        return new Options(
            field,
            SharedCodebook.checkName(codebook),
            new SampleOptions(space, subspaces, sampleSize, minDocuments));
      } catch (IllegalArgumentException e) {
        throw ConfigurationUtils.newConfigurationException(TYPE, tag, null, e.getMessage());
      }
    }

    /** Reads a text that must be the same for all documents, so it must not be a template. */
    private static String fixed(String tag, Map<String, Object> config, String option) {
      String value = ConfigurationUtils.readStringProperty(TYPE, tag, config, option);
      if (value.contains("{{")) {
        throw ConfigurationUtils.newConfigurationException(
            TYPE,
            tag,
            option,
            "must be the same for all documents, got the template [" + value + "]");
      }
      return value;
    }
  }
}
