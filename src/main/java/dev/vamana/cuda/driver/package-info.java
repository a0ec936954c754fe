/**
 * The CUDA driver as the project uses it: memory, streams, registration of mapped files, launches.
 */
package dev.vamana.cuda.driver;
