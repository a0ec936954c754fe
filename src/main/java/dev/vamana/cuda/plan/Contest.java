package dev.vamana.cuda.plan;

/**
 * Work that both the CPU and the device can do, at costs on an idle node that differ by less than a
 * factor. Measurements then say more than the model does about who is faster under load.
 *
 * @param work predicted nanoseconds of a thread of the CPU for one query
 * @param favoursDevice whether the device is expected to be cheaper on an idle node
 */
public record Contest(double work, boolean favoursDevice) {

  /** Returns the part of the work that is expected to be cheaper on the device. */
  public double favoured() {
    return favoursDevice ? work : 0;
  }
}
