/**
 * The GPU executor: searches batches of work items on a device, and answers on the CPU what the
 * device cannot. See docs/internals/gpu.md.
 */
package dev.vamana.cuda;
