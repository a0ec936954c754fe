/** Arguments of the tools' commands. */
package dev.vamana.tools.arguments;
