/** Measured figures as CSV files, and the page of tables and plots that is made of them. */
package dev.vamana.tools.figures;
