/**
 * The cost model: predicts the time of each way to answer a query, and chooses one
 * (docs/internals/query-plans.md).
 */
package dev.vamana.cuda.plan;
