/** Writes files of exact neighbours, computed on the GPU or on the CPU. */
package dev.vamana.tools.groundtruth;
