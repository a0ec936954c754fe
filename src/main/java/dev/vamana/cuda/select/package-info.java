/**
 * The k smallest of many rows of floats on the device (docs/internals/selection.md): after
 * Faiss-GPU and the thesis of Hanak.
 */
package dev.vamana.cuda.select;
