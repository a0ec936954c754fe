/**
 * Questions whose answers are known, which every opened context is asked before it answers
 * searches. See docs/internals/faults.md.
 */
package dev.vamana.cuda.question;
