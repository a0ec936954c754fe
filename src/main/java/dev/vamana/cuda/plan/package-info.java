/** What answering a query costs in each way that there is, and which way is taken. */
package dev.vamana.cuda.plan;
