/**
 * Common parts of the lanes of a context: a thread with an inbox, tickets, and leases of the
 * segments that they search. {@code cuda.batch}, {@code cuda.hostfetch} and {@code cuda.scan} have
 * one kind of lane each. See docs/internals/gpu-lanes.md.
 */
package dev.vamana.cuda.lane;
