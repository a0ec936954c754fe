/** Threads of long work, and how to stop it. */
package dev.vamana.work;
