/** Makes files of exact neighbours, on the GPU or on the CPU. */
package dev.vamana.tools.groundtruth;
