/** Counters with names, for statistics. */
package dev.vamana.cuda.count;
