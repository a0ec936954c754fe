/**
 * The interface to the kernels: layouts of the parameter structs in native-kernels/include/vamana,
 * choice of walk kernel, and shared-memory sizes.
 */
package dev.vamana.cuda.kernel;
