/**
 * The Lucene vectors format: its files, writer, merge and reader. {@link
 * dev.vamana.codec.VamanaVectorsFormat} describes the files.
 */
package dev.vamana.codec;
