/**
 * The GPU suite: stages that check and measure the GPU executor on a machine with a GPU, and the
 * report made of what they found. docs/internals/gpu-suite.md tells how it is used.
 */
package dev.vamana.tools.gpu;
