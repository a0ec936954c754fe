/**
 * The CUDA driver as the project uses it: devices, contexts, memory, registration of mapped files,
 * streams and launches.
 */
package dev.vamana.cuda.driver;
