/**
 * Compiles CUDA kernels with NVRTC, NVIDIA's compiler in a library, which needs no toolkit: the
 * build does so for the GPUs it is asked for, a node for a device that no shipped image serves.
 *
 * <p>{@link dev.vamana.cuda.compile.KernelSources} holds the sources, {@link
 * dev.vamana.cuda.compile.Nvrtc} is the library, {@link dev.vamana.cuda.compile.KernelCompiler}
 * compiles modules on several threads and skips unchanged ones, and {@link
 * dev.vamana.cuda.compile.NodeKernels} does so for a node.
 */
package dev.vamana.cuda.compile;
