/**
 * What the owner of an executor says to it and hears from it: options, events, statistics, and the
 * reasons why the CPU answered. {@code dev.vamana.cuda} has the executor.
 */
package dev.vamana.cuda.api;
