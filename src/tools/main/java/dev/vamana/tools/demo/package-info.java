/**
 * The demo: one node, our index and the stock one, the same vectors and queries over HTTP, one
 * table and one report.
 *
 * <p>{@link dev.vamana.tools.demo.Demo} is the program; docs/operators/demo.md describes its
 * options and how it measures.
 */
package dev.vamana.tools.demo;
