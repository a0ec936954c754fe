/**
 * One call of the executor: {@code CallPlanner} decides for each kind of item who answers it and
 * how, {@code DeviceCall} submits tickets to the lanes and answers the rest on the CPU.
 */
package dev.vamana.cuda.call;
