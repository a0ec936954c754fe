/** Threads that call side by side, each in a closed loop. */
package dev.vamana.tools.callers;
