/** Building graphs on the device, in batches of nodes. */
package dev.vamana.cuda.build;
