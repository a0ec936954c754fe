/** Line plots as self-contained SVG, for reports that open in any browser. */
package dev.vamana.tools.plot;
