/**
 * The GPU suite: stages that test and measure the GPU executor on a machine with a GPU, and the
 * report of their findings. See docs/internals/gpu-suite.md.
 */
package dev.vamana.tools.gpu;
