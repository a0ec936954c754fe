package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import java.util.function.BooleanSupplier;

/**
 * Describes one training.
 *
 * @param name name of the codebook
 * @param space the vectors that the codebook is for
 * @param subspaces length of a code in bytes, 0 to derive it from the dimension
 * @param sampleSize most vectors to train on
 * @param from source of the vectors, for people to read
 * @param firstOnly whether to skip a codebook that is ready or has failed
 * @param keepFailure whether to store the reason of a failure with the codebook; otherwise a
 *     failure restores the previous entry, and only the waiting caller gets the reason
 * @param cancelled whether to end the training; a cancelled training stores no codebook
 */
record TrainingPlan(
    String name,
    VectorSpace space,
    int subspaces,
    int sampleSize,
    String from,
    boolean firstOnly,
    boolean keepFailure,
    BooleanSupplier cancelled) {}
