package dev.vamana.cuda.devices;

import dev.vamana.cuda.GpuExecutor;
import java.util.concurrent.atomic.LongAdder;

/**
 * One of several devices.
 *
 * @param index number among the members, from 0
 * @param items counts the items that it was asked for
 */
record Member(int index, GpuExecutor executor, LongAdder items) {}
