// A management library of one device with fixed figures, and without an energy counter.
#include <stdio.h>
#include <string.h>

static int users;

int nvmlInit_v2(void) {
  users++;
  return 0;
}

int nvmlShutdown(void) { return users-- > 0 ? 0 : 1; }

int nvmlDeviceGetHandleByPciBusId_v2(const char* id, void** device) {
  *device = &users;
  return strcmp(id, "0000:01:00.0") == 0 ? 0 : 6;
}

int nvmlSystemGetDriverVersion(char* version, unsigned int length) {
  snprintf(version, length, "580.65.06");
  return users > 0 ? 0 : 1;
}

int nvmlDeviceGetMemoryInfo(void* device, unsigned long long* bytes) {
  bytes[0] = 150754820096ull;
  bytes[1] = 150000000000ull;
  bytes[2] = 754820096ull;
  return device == &users ? 0 : 2;
}

int nvmlDeviceGetUtilizationRates(void* device, unsigned int* percents) {
  percents[0] = 37;
  percents[1] = 5;
  return device == &users ? 0 : 2;
}

int nvmlDeviceGetPowerUsage(void* device, unsigned int* milliwatts) {
  *milliwatts = 123456;
  return device == &users ? 0 : 2;
}

int nvmlDeviceGetTemperature(void* device, int sensor, unsigned int* celsius) {
  *celsius = 41;
  return device == &users && sensor == 0 ? 0 : 2;
}
