/** How long work runs: on which threads, and when it has to stop. */
package dev.vamana.work;
