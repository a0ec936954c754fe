package dev.vamana.elasticsearch.codebook.action;

import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.train.IndexTrainings;
import dev.vamana.pq.SharedCodebook;
import dev.vamana.pq.SubspaceLayout;
import java.io.IOException;
import java.util.Map;
import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.action.UntypedActionRequest;
import org.elasticsearch.action.ValidateActions;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.index.query.QueryBuilder;
import org.elasticsearch.tasks.CancellableTask;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.tasks.TaskId;

/** Trains a codebook from the field of an index. */
public final class TrainCodebookRequest extends UntypedActionRequest {
  private final String name;
  private final IndexTrainings.Source source;
  private final boolean wait;

  /**
   * Makes a request.
   *
   * @param wait whether to answer when the training has ended; otherwise when it has started
   */
  public TrainCodebookRequest(String name, IndexTrainings.Source source, boolean wait) {
    this.name = name;
    this.source = source;
    this.wait = wait;
  }

  /** Reads what {@link #writeTo} wrote. */
  public TrainCodebookRequest(StreamInput in) throws IOException {
    super(in);
    name = in.readString();
    source =
        new IndexTrainings.Source(
            in.readOptionalString(),
            in.readOptionalString(),
            in.readOptionalNamedWriteable(QueryBuilder.class),
            in.readVInt(),
            in.readVInt());
    wait = in.readBoolean();
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    super.writeTo(out);
    out.writeString(name);
    out.writeOptionalString(source.index());
    out.writeOptionalString(source.field());
    out.writeOptionalNamedWriteable(source.query());
    out.writeVInt(source.sampleSize());
    out.writeVInt(source.subspaces());
    out.writeBoolean(wait);
  }

  String name() {
    return name;
  }

  IndexTrainings.Source source() {
    return source;
  }

  boolean waits() {
    return wait;
  }

  @Override
  public ActionRequestValidationException validate() {
    ActionRequestValidationException errors = null;
    errors = check(() -> SharedCodebook.checkName(name), errors);
    if (Strings.isNullOrEmpty(source.index())) {
      errors = ValidateActions.addValidationError("[index] is missing", errors);
    }
    if (Strings.isNullOrEmpty(source.field())) {
      errors = ValidateActions.addValidationError("[field] is missing", errors);
    }
    errors = check(() -> SampleOptions.checkSampleSize(source.sampleSize()), errors);
    return check(
        () -> SampleOptions.checkSubspaces(source.subspaces(), SubspaceLayout.MAX_DIMS), errors);
  }

  private static ActionRequestValidationException check(
      Runnable check, ActionRequestValidationException errors) {
    try {
      check.run();
      return errors;
    } catch (IllegalArgumentException e) {
      return ValidateActions.addValidationError(e.getMessage(), errors);
    }
  }

  @Override
  public Task createTask(
      long id, String type, String action, TaskId parent, Map<String, String> headers) {
    return new CancellableTask(
        id,
        type,
        action,
        "codebook [" + name + "] from [" + source.index() + "] field [" + source.field() + "]",
        parent,
        headers);
  }
}
