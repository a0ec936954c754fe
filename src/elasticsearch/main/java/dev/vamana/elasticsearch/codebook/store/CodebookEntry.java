package dev.vamana.elasticsearch.codebook.store;

import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.pq.CodebookTraining;
import dev.vamana.pq.SharedCodebook;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import org.elasticsearch.ElasticsearchStatusException;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.VectorSimilarity;
import org.elasticsearch.rest.RestStatus;

/**
 * A stored codebook without its centroids: the newest version, the running training, and the
 * failure of the last training, each if there is one. It is stored as it is shown. Immutable.
 */
public final class CodebookEntry {
  private static final String NAME = "name";
  private static final String VERSION = "version";
  private static final String TRAINING = "training";
  private static final String NODE = "node";
  private static final String FAILURE = "failure";

  private final Map<String, Object> fields;

  /** Makes the entry that {@link #stored} describes. */
  CodebookEntry(Map<String, Object> fields) {
    this.fields = fields;
  }

  /** Makes the entry of a codebook that has no version and is not being trained. */
  static CodebookEntry none(String name) {
    return new CodebookEntry(Map.of(NAME, name));
  }

  /**
   * Makes the entry of a codebook that is ready and not being trained.
   *
   * @param similarity similarity of the fields that the codebook is for
   * @param trainedAt milliseconds since 1970
   */
  public static CodebookEntry ready(
      SharedCodebook codebook, VectorSimilarity similarity, long trainedAt) {
    CodebookTraining training = codebook.training();
    Map<String, Object> fields = new LinkedHashMap<>();
    fields.put(NAME, codebook.name());
    fields.put(VERSION, (int) codebook.version());
    fields.put("dims", codebook.dimension());
    fields.put("similarity", similarity.toString());
    fields.put("subspaces", codebook.subspaces());
    if (training.sampleSize() > 0) {
      fields.put("quantization_error", training.quantizationError());
    }
    fields.put("trained_from", training.trainedFrom());
    fields.put("trained_at", time(trainedAt));
    fields.put("trained_on", training.sampleSize());
    fields.put("documents", training.vectors());
    return new CodebookEntry(fields);
  }

  Map<String, Object> stored() {
    return fields;
  }

  private static String time(long millis) {
    return Instant.ofEpochMilli(millis).toString();
  }

  /** Name of the codebook. */
  public String name() {
    return (String) fields.get(NAME);
  }

  /** Number of the newest version, or 0 if there is none. */
  public int version() {
    return (Integer) fields.getOrDefault(VERSION, 0);
  }

  /**
   * Refuses vectors of another kind than the present version is for, if there is one: indices that
   * name the codebook could not use the next version. Cosine and dot product are one kind.
   *
   * @throws ElasticsearchStatusException with status 409
   */
  public void requireFit(VectorSpace next) {
    if (version() == 0) {
      return;
    }
    VectorSpace present =
        new VectorSpace(
            (Integer) fields.get("dims"),
            VectorSpace.similarity((String) fields.get("similarity")));
    if (present.dims() != next.dims() || present.function() != next.function()) {
      throw new ElasticsearchStatusException(
          "codebook [{}] has dims [{}] and similarity [{}], a version with [{}] and [{}] does not"
              + " fit: choose another name, or delete it first",
          RestStatus.CONFLICT,
          name(),
          present.dims(),
          present.similarity(),
          next.dims(),
          next.similarity());
    }
  }

  /** Whether the last training failed. */
  public boolean failed() {
    return fields.containsKey(FAILURE);
  }

  /**
   * Ephemeral id of the node that claims to train the codebook, or null. The claim is void once
   * that node has left or restarted.
   */
  public String trainer() {
    return fields.get(TRAINING) instanceof Map<?, ?> claim ? (String) claim.get(NODE) : null;
  }

  /**
   * Returns this entry with the claim of a node.
   *
   * @param node ephemeral id of the node
   * @param from source of the vectors, for people to read
   * @param at milliseconds since 1970
   */
  public CodebookEntry claimed(String node, String from, long at) {
    Map<String, Object> changed = new LinkedHashMap<>(fields);
    changed.put(TRAINING, Map.of(NODE, node, "from", from, "started_at", time(at)));
    return new CodebookEntry(changed);
  }

  /**
   * Returns this entry without a claim and with a failure.
   *
   * @param reason reason of the failure, for people to read
   * @param at milliseconds since 1970
   */
  public CodebookEntry failed(String reason, long at) {
    Map<String, Object> changed = new LinkedHashMap<>(fields);
    changed.remove(TRAINING);
    changed.put(FAILURE, Map.of("reason", reason, "at", time(at)));
    return new CodebookEntry(changed);
  }

  /**
   * Describes the codebook for answers.
   *
   * @param training whether a node is training the codebook, so that its claim is not void
   */
  public Map<String, Object> shown(boolean training) {
    Map<String, Object> shown = new LinkedHashMap<>();
    shown.put(NAME, name());
    shown.put("state", training ? TRAINING : version() > 0 ? "ready" : "failed");
    shown.putAll(fields);
    if (shown.remove(TRAINING) instanceof Map<?, ?> claim) {
      Object startedAt = claim.get("started_at");
      if (training) {
        shown.put(TRAINING, Map.of("from", claim.get("from"), "started_at", startedAt));
      } else {
        String reason = "the node that trained it has left the cluster";
        shown.put(FAILURE, Map.of("reason", reason, "at", startedAt));
      }
    }
    return shown;
  }
}
