/**
 * Runs REST tests written in YAML, in the layout of Elasticsearch's own, against a node.
 *
 * <p>{@link dev.vamana.elasticsearch.yaml.Suite} reads a file, {@link
 * dev.vamana.elasticsearch.yaml.SuiteRunner} runs its tests. Whatever the runner does not know,
 * from a misspelt assertion to an unknown parameter of an API, fails the test.
 */
package dev.vamana.elasticsearch.yaml;
