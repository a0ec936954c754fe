/**
 * Searches of inverted lists on the device: which kernel, block and grid a launch takes.
 * docs/internals/ivf-gpu.md describes the kernel.
 */
package dev.vamana.cuda.lists;
