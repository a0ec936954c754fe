package dev.vamana.elasticsearch.gpu;

import dev.vamana.cuda.memory.HostMemoryAccount;
import dev.vamana.elasticsearch.monitor.DamagedFiles;
import dev.vamana.elasticsearch.monitor.stats.DeviceStats;
import dev.vamana.elasticsearch.monitor.stats.GpuStats;
import dev.vamana.search.ExecutorRegistry;
import dev.vamana.work.Workers;
import java.io.Closeable;
import java.io.IOException;
import java.util.List;
import org.elasticsearch.logging.LogManager;
import org.elasticsearch.logging.Logger;

/**
 * Holds the executor that answers this node's searches, if settings and machine allow one. It is
 * installed when the node starts and closed when the node stops.
 */
public final class NodeExecutor implements Closeable {
  private static final Logger logger = LogManager.getLogger(NodeExecutor.class);

  private static final String NO_USABLE = "no usable GPU: ";

  private final GpuMode mode;
  private final GpuDevices devices;
  private final ExecutorRegistry.Installation installation;
  private final String reason;

  private NodeExecutor(
      GpuMode mode, GpuDevices devices, ExecutorRegistry.Installation installation, String reason) {
    this.mode = mode;
    this.devices = devices;
    this.installation = installation;
    this.reason = reason;
  }

  /**
   * Opens the executor for the settings and installs it for all readers of this process. Logs the
   * outcome once.
   *
   * @param damaged is told of damaged files
   * @param account counts the host memory that the executor pins for batches
   * @param workers threads that share the items of a batch that the CPU answers
   * @throws IllegalStateException if a GPU is required and there is no usable one; the message says
   *     what was probed and what was found
   */
  public static NodeExecutor start(
      GpuSettings settings,
      GpuDevices devices,
      DamagedFiles damaged,
      HostMemoryAccount account,
      Workers workers) {
    if (settings.mode() == GpuMode.OFF) {
      String off = "[" + GpuSettings.ENABLED.getKey() + "] is [off]";
      return new NodeExecutor(settings.mode(), devices, null, off);
    }
    ExecutorRegistry.Installation installation;
    try {
      installation =
          ExecutorRegistry.install(() -> devices.open(settings, damaged, account, workers));
    } catch (RuntimeException | LinkageError e) {
      // An unsuitable driver can also cause linkage errors, at any call. None of these errors may
      // keep the node from searching.
      String found = found(e);
      if (settings.mode() == GpuMode.REQUIRED) {
        throw new IllegalStateException(
            "setting ["
                + GpuSettings.ENABLED.getKey()
                + "] is [required], but this node has "
                + NO_USABLE
                + found
                + ". With [auto] the node would start and search on the CPU.",
            e);
      }
      logger.info("vectors are searched on the CPU, {}{}", NO_USABLE, found);
      return new NodeExecutor(settings.mode(), devices, null, found);
    }
    logger.info("vectors are searched by {}", installation.executor().name());
    return new NodeExecutor(settings.mode(), devices, installation, null);
  }

  /** The exception's message without the introduction that this class adds itself. */
  private static String found(Throwable e) {
    String message = e.getMessage() == null ? e.toString() : e.getMessage();
    return message.startsWith(NO_USABLE) ? message.substring(NO_USABLE.length()) : message;
  }

  /** Statistics of the GPU, or the reason why the node uses none. */
  public GpuStats gpu() {
    if (installation == null) {
      GpuStats.State state = mode == GpuMode.OFF ? GpuStats.State.OFF : GpuStats.State.UNAVAILABLE;
      return GpuStats.without(mode.settingName(), state, reason);
    }
    return devices.stats(installation.executor(), mode);
  }

  /** The devices; none if there is no device. */
  public List<DeviceStats> devices() {
    return installation == null ? List.of() : devices.devices(installation.executor());
  }

  /** Applies changed dynamic settings. */
  public void adjust(GpuSettings settings) {
    if (installation != null) {
      devices.adjust(installation.executor(), settings);
    }
  }

  /** Uninstalls and closes the executor. */
  @Override
  public void close() throws IOException {
    if (installation != null) {
      installation.close();
    }
  }
}
