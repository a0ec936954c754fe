/**
 * Segments of a query sent to the device before they are asked for.
 *
 * <p>Lucene asks for the segments of an index one after the other, each when it has the answer of
 * the one before, so a query over eight segments takes eight launches and waits eight times. It
 * asks for the same segments in each query, though. {@link dev.vamana.cuda.ahead.Ahead} remembers
 * which followed which, sends them along with the first, and has their answers when they are asked
 * for. docs/internals/gpu.md, section "Segments ahead".
 */
package dev.vamana.cuda.ahead;
