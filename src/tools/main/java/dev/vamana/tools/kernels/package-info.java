/** Compiles the CUDA kernels into the plugin while Maven builds it. */
package dev.vamana.tools.kernels;
