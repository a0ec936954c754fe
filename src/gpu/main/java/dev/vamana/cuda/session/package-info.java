/**
 * Contexts, one after the other: {@code SessionKeeper} opens, loses and replaces a {@code
 * GpuSession}, {@code OpenSegments} knows which segments are open, {@code SelfTester} tests them.
 * Trainings and graph builds use a session from here, searches from {@code cuda.call}.
 */
package dev.vamana.cuda.session;
