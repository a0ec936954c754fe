package dev.vamana.cuda.driver;

import java.io.IOException;

/**
 * Gives kernels for a device that the jar's images do not serve. {@link DeviceProbe} asks once,
 * while it probes; an implementation may compile for minutes.
 */
@FunctionalInterface
public interface KernelFallback {

  /** Gives none, and tells how to get some. */
  KernelFallback NONE =
      computeCapability -> {
        throw new IOException(
            "build the plugin for it with -Dcuda.architectures=" + computeCapability);
      };

  /**
   * The images for a device.
   *
   * @param computeCapability ten times major plus minor, 90 for 9.0
   * @return images that run on the device
   * @throws IOException if there are none; the message says why, and what to do
   */
  KernelImages imagesFor(int computeCapability) throws IOException;
}
