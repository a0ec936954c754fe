/**
 * Interface between an executor and its owner: options, events, statistics, and the reasons why the
 * CPU answered. {@code dev.vamana.cuda} has the executor.
 */
package dev.vamana.cuda.api;
