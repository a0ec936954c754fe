package dev.vamana.cuda.plan;

/**
 * A plan that was chosen.
 *
 * @param nanos that it is predicted to take, waiting included
 */
public record Choice(Plan plan, double nanos) {}
