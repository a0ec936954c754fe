/** Runs test classes many times with random seeds, without the build. */
package dev.vamana.tools.repeat;
