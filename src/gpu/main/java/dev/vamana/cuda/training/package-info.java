/** k-means, codebook training and encoding on the device. */
package dev.vamana.cuda.training;
