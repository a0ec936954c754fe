/**
 * Finds devices that answer wrong: {@code SelfTest} searches a tiny index, and {@code Samples}
 * computes a few answers again on the CPU. {@code cuda.session} calls both. See
 * docs/internals/faults.md.
 */
package dev.vamana.cuda.selftest;
