/**
 * Selection of the k smallest floats of many rows on the device, after Faiss-GPU and Hanak's thesis
 * (docs/internals/selection.md).
 */
package dev.vamana.cuda.select;
