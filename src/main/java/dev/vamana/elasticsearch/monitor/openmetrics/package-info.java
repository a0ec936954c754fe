/** The OpenMetrics 1.0 text format, and answers in it. Knows nothing of what is told in it. */
package dev.vamana.elasticsearch.monitor.openmetrics;
