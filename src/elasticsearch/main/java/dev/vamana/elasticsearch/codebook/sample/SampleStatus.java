package dev.vamana.elasticsearch.codebook.sample;

/**
 * The state of a node's sample.
 *
 * @param name name of the codebook
 * @param seen vectors offered to the sample
 * @param held vectors in the sample
 * @param rejected documents without the field, whose value is not a valid vector, or from a
 *     processor with other options
 * @param missed vectors for which there was no memory
 */
public record SampleStatus(String name, long seen, long held, long rejected, long missed) {}
