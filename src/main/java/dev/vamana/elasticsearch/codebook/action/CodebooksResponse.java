package dev.vamana.elasticsearch.codebook.action;

import java.io.IOException;
import java.util.List;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.tasks.TaskId;
import org.elasticsearch.xcontent.ToXContentObject;
import org.elasticsearch.xcontent.XContentBuilder;

/** Codebooks by name. */
public final class CodebooksResponse extends ActionResponse implements ToXContentObject {
  private final List<CodebookView> codebooks;
  private final TaskId task;

  CodebooksResponse(List<CodebookView> codebooks) {
    this(codebooks, null);
  }

  /**
   * Makes a response.
   *
   * @param task the task that goes on after the response, or null
   */
  CodebooksResponse(List<CodebookView> codebooks, TaskId task) {
    this.codebooks = List.copyOf(codebooks);
    this.task = task;
  }

  /** Reads what {@link #writeTo} wrote. */
  public CodebooksResponse(StreamInput in) throws IOException {
    codebooks = in.readCollectionAsImmutableList(CodebookView::new);
    task = in.readOptionalWriteable(TaskId::readFromStream);
  }

  /** The task that goes on after the response, or null. */
  public TaskId task() {
    return task;
  }

  /** The codebooks, ordered by name. */
  public List<CodebookView> codebooks() {
    return codebooks;
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeCollection(codebooks);
    out.writeOptionalWriteable(task);
  }

  @Override
  public XContentBuilder toXContent(XContentBuilder json, Params params) throws IOException {
    json.startObject();
    if (task != null) {
      json.field("task", task.toString());
    }
    json.startArray("codebooks");
    for (CodebookView codebook : codebooks) {
      codebook.toXContent(json, params);
    }
    return json.endArray().endObject();
  }
}
