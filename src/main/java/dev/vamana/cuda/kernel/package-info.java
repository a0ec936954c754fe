/**
 * What a walk kernel is given: the parameter blocks of native-kernels/include/vamana/types.h, the
 * choice of kernel and its shared memory.
 */
package dev.vamana.cuda.kernel;
