/** k-means, training of codebooks and encoding on the device. */
package dev.vamana.cuda.training;
