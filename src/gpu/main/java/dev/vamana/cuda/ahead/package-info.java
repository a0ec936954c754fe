/**
 * Sends segments of a query to the device before the query's calls for them arrive.
 *
 * <p>Lucene searches the segments of an index one after the other, so a query over eight segments
 * takes eight launches and waits eight times. Every query searches the same segments, though.
 * {@link dev.vamana.cuda.ahead.Ahead} remembers which segments follow the first, sends them along
 * with it, and returns their answers when the calls arrive. See docs/internals/gpu.md, section
 * "Segments ahead".
 */
package dev.vamana.cuda.ahead;
