/**
 * The GPU executor: searches batches of work items on a device, and on the CPU what the device does
 * not have or cannot do. docs/internals/gpu.md tells how.
 */
package dev.vamana.cuda;
