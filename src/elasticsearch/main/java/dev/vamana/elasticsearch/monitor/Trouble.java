package dev.vamana.elasticsearch.monitor;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;

/**
 * Something that is wrong on a node now.
 *
 * @param kind what it is
 * @param subject what it is about, for instance a shard; never empty
 * @param message the reason
 */
public record Trouble(Kind kind, String subject, String message) {

  /** The kinds, in the order in which a health report lists them. */
  public enum Kind {
    /** A file is damaged; the subject is shard and segment. */
    DAMAGED_FILE(
        "a file of an index is damaged, so the copy of the shard has failed",
        "let the copy recover from another one or a snapshot, and check the disk",
        "a shard has fewer copies than it should"),
    /** A device failed and is not used. */
    GPU_LOST(
        "a GPU failed while it was in use",
        "look for Xid errors in the kernel's log; if the next attempts fail, too, restart the"
            + " node or replace the device",
        "the CPU answers searches of the GPU's segments, which is slower"),
    /** Segments that searches wanted did not fit on the device lately. */
    DEVICE_MEMORY(
        "segments that searches want do not fit on the GPU",
        "raise vamana.gpu.memory.limit, add nodes, or choose which indices are warm",
        "the CPU answers searches of segments that do not fit, which is slower"),
    /** Sampled searches find too few of the nearest vectors; the subject is index and field. */
    LOW_RECALL(
        "searches find fewer than 90 % of the nearest vectors",
        "ask with more num_candidates, or build the index with a larger max_degree",
        "searches miss near documents"),
    /** An index that is not opted in has segments in the plugin's format. */
    LEFTOVER_SEGMENTS(
        "an index without index.vamana.enabled has segments in the plugin's format",
        "set index.vamana.enabled to false and force a merge, or to true; GET /_vamana/removal"
            + " lists what needs the plugin",
        "the index cannot be opened once the plugin is removed"),
    /** The node found no usable GPU when it started, which its settings allow. */
    GPU_UNAVAILABLE(
        "there is no usable GPU, and vamana.gpu.enabled is [auto]",
        "set vamana.gpu.enabled to [required] where a GPU should be, or to [off]",
        "the CPU answers searches");

    /** Why it is so. */
    public final String cause;

    /** Step that an operator takes against the trouble. */
    public final String action;

    /** Effect on searches. */
    public final String impact;

    Kind(String cause, String action, String impact) {
      this.cause = cause;
      this.action = action;
      this.impact = impact;
    }

    /** The name in answers. */
    public String label() {
      return name().toLowerCase(Locale.ROOT);
    }

    /** Whether something should be done; nodes without a GPU are as they may be. */
    public boolean isHarmful() {
      return this != GPU_UNAVAILABLE;
    }
  }

  public Trouble {
    Objects.requireNonNull(kind, "kind");
    Objects.requireNonNull(subject, "subject");
    Objects.requireNonNull(message, "message");
  }

  /** The members in statistics. */
  public Map<String, Object> members() {
    return Map.of("kind", kind.label(), "subject", subject, "message", message);
  }

  /** Reads entries of {@link #members}; leaves out kinds that only a newer node knows. */
  public static List<Trouble> of(List<?> entries) {
    List<Trouble> troubles = new ArrayList<>();
    for (Object entry : entries) {
      Map<?, ?> members = (Map<?, ?>) entry;
      for (Kind kind : Kind.values()) {
        if (kind.label().equals(members.get("kind"))) {
          troubles.add(
              new Trouble(kind, (String) members.get("subject"), (String) members.get("message")));
        }
      }
    }
    return troubles;
  }
}
