/**
 * Several devices as one executor: which segments each device has, which device answers an item,
 * and what happens when a device is lost. See docs/internals/gpu-devices.md.
 */
package dev.vamana.cuda.devices;
