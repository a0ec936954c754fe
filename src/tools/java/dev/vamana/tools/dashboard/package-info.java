/**
 * Draws the dashboard of docs/operators/monitoring with the figures of a Prometheus server, for
 * pages that show it.
 */
package dev.vamana.tools.dashboard;
