package dev.vamana.elasticsearch.codebook.ingest;

import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.pq.SharedCodebook;
import java.util.Map;
import org.elasticsearch.ingest.ConfigurationUtils;

/**
 * The options of one processor.
 *
 * @param field path of the document's field
 * @param codebook name of the codebook
 * @param sample options of the sample
 */
record TrainOptions(String field, String codebook, SampleOptions sample) {

  /**
   * Reads the options from a processor's configuration.
   *
   * @throws org.elasticsearch.ElasticsearchException if an option is missing or invalid; names the
   *     option
   */
  static TrainOptions read(String tag, Map<String, Object> config) {
    String type = TrainProcessor.TYPE;
    String field = ConfigurationUtils.readStringProperty(type, tag, config, "field");
    String codebook = ConfigurationUtils.readStringProperty(type, tag, config, "codebook");
    refuseTemplate(tag, "field", field);
    refuseTemplate(tag, "codebook", codebook);
    int dims = ConfigurationUtils.readIntProperty(type, tag, config, "dims", -1);
    String similarity =
        ConfigurationUtils.readStringProperty(
            type, tag, config, "similarity", VectorSpace.Similarity.COSINE.label());
    int subspaces = ConfigurationUtils.readIntProperty(type, tag, config, "subspaces", 0);
    int sampleSize =
        ConfigurationUtils.readIntProperty(
            type, tag, config, "sample_size", SampleOptions.DEFAULT_SAMPLE_SIZE);
    int minDocuments =
        ConfigurationUtils.readIntProperty(
            type,
            tag,
            config,
            "min_documents",
            (int)
                Math.min(
                    Integer.MAX_VALUE,
                    (long) SampleOptions.DEFAULT_DOCUMENTS_FACTOR * Math.max(0, sampleSize)));
    if (dims == -1) {
      throw ConfigurationUtils.newConfigurationException(
          type, tag, "dims", "required property is missing");
    }
    try {
      SharedCodebook.checkName(codebook);
    } catch (IllegalArgumentException e) {
      throw ConfigurationUtils.newConfigurationException(type, tag, "codebook", e.getMessage());
    }
    try {
      VectorSpace space = new VectorSpace(dims, VectorSpace.Similarity.of(similarity));
      return new TrainOptions(
          field, codebook, new SampleOptions(space, subspaces, sampleSize, minDocuments));
    } catch (IllegalArgumentException e) {
      // the message starts with the option's name in brackets
      String[] parts = e.getMessage().substring(1).split("] ", 2);
      throw ConfigurationUtils.newConfigurationException(type, tag, parts[0], parts[1]);
    }
  }

  private static void refuseTemplate(String tag, String option, String value) {
    if (value.contains("{{")) {
      throw ConfigurationUtils.newConfigurationException(
          TrainProcessor.TYPE,
          tag,
          option,
          "must be the same for all documents, got the template [" + value + "]");
    }
  }
}
