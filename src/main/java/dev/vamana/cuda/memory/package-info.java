/** What of the open segments lies on the device, where, and under which budget. */
package dev.vamana.cuda.memory;
