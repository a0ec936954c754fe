/**
 * Walks with codes on the device while the CPU fetches the neighbours of every step from the
 * segment's files (BANG base, section 3.2).
 */
package dev.vamana.cuda.hostfetch;
