/**
 * BANG base (section 3.2): codes on the device, while the CPU fetches the neighbours for every step
 * from the segment's files.
 */
package dev.vamana.cuda.hostfetch;
