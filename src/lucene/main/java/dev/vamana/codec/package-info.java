/**
 * The Lucene vectors format: its files, writer, merge and reader. {@link
 * dev.vamana.codec.VamanaVectorsFormat} documents the files.
 */
package dev.vamana.codec;
