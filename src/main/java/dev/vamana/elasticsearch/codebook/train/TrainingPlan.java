package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.codebook.sample.VectorSpace;

/**
 * What to train.
 *
 * @param name of the codebook
 * @param space vectors it is for
 * @param subspaces bytes of a code, 0 to derive them
 * @param sampleSize most vectors to train on
 * @param from where they come from, for people to read
 * @param firstOnly whether to leave a codebook alone that is ready or has failed
 * @param keepFailure whether to keep the reason of a failure with the codebook; otherwise all is as
 *     it was before, since somebody waits for the answer
 */
record TrainingPlan(
    String name,
    VectorSpace space,
    int subspaces,
    int sampleSize,
    String from,
    boolean firstOnly,
    boolean keepFailure) {}
