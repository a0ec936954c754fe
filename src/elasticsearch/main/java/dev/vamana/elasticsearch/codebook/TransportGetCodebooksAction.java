package dev.vamana.elasticsearch.codebook;

import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.sample.Samples;
import dev.vamana.elasticsearch.codebook.store.CodebookEntry;
import dev.vamana.elasticsearch.codebook.store.CodebookStore;
import dev.vamana.elasticsearch.codebook.train.Trainer;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.elasticsearch.ResourceNotFoundException;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.ValidateActions;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.common.regex.Regex;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Lists codebooks with their state. */
public final class TransportGetCodebooksAction
    extends TransportAction<TransportGetCodebooksAction.Request, CodebooksResponse> {

  /** The action. It requires the privilege to monitor the cluster. */
  public static final ActionType<CodebooksResponse> TYPE =
      new ActionType<>("cluster:monitor/vamana/codebooks/get");

  private final CodebookStore store;
  private final Samples samples;
  private final Trainer trainer;

  /** Asks for codebooks by name. */
  static final class Request extends LocalRequest {
    private final List<String> names;
    private final boolean data;

    /**
     * Makes a request.
     *
     * @param names names of codebooks, or patterns with {@code *}; none means all
     * @param data whether to return the codebook's bytes, too; requires exactly one name
     */
    Request(List<String> names, boolean data) {
      this.names = names;
      this.data = data;
    }

    @Override
    public ActionRequestValidationException validate() {
      return data && (names.size() != 1 || Regex.isSimpleMatchPattern(names.get(0)))
          ? ValidateActions.addValidationError(
              "[data] requires the name of a single codebook", null)
          : null;
    }
  }

  /** Called by the node. */
  @Inject
  public TransportGetCodebooksAction(
      TransportService transport,
      ActionFilters filters,
      ThreadPool threads,
      CodebookStore store,
      Samples samples,
      Trainer trainer) {
    super(
        TYPE.name(),
        filters,
        transport.getTaskManager(),
        threads.executor(ThreadPool.Names.MANAGEMENT));
    this.store = store;
    this.samples = samples;
    this.trainer = trainer;
  }

  @Override
  protected void doExecute(Task task, Request request, ActionListener<CodebooksResponse> listener) {
    Map<String, Map<String, Object>> known = new TreeMap<>();
    samples.options().forEach((name, options) -> known.put(name, sampling(name, options)));
    if (request.data) {
      String name = request.names.get(0);
      store.find(
          name,
          listener.map(
              found -> {
                if (found.exists()) {
                  Map<String, Object> shown = shown(found.entry());
                  shown.put("data", found.data());
                  known.put(name, shown);
                }
                return answer(request.names, known);
              }));
    } else {
      store.list(
          listener.map(
              entries -> {
                entries.forEach(entry -> known.put(entry.name(), shown(entry)));
                return answer(request.names, known);
              }));
    }
  }

  private Map<String, Object> shown(CodebookEntry entry) {
    return entry.shown(trainer.trains(entry));
  }

  private static Map<String, Object> sampling(String name, SampleOptions options) {
    Map<String, Object> shown = new LinkedHashMap<>();
    shown.put("name", name);
    shown.put("state", "sampling");
    shown.put("dims", options.space().dims());
    shown.put("similarity", options.space().similarity().toString());
    shown.put("sample_size", options.sampleSize());
    shown.put("min_documents", options.minDocuments());
    return shown;
  }

  private static CodebooksResponse answer(
      List<String> names, Map<String, Map<String, Object>> known) {
    Set<String> wanted = new TreeSet<>(names.isEmpty() ? known.keySet() : Set.of());
    for (String name : names) {
      if (Regex.isSimpleMatchPattern(name)) {
        known.keySet().stream().filter(each -> Regex.simpleMatch(name, each)).forEach(wanted::add);
      } else if (known.containsKey(name)) {
        wanted.add(name);
      } else {
        throw unknown(name);
      }
    }
    return new CodebooksResponse(wanted.stream().map(known::get).toList());
  }

  static ResourceNotFoundException unknown(String name) {
    return new ResourceNotFoundException("there is no codebook [" + name + "]");
  }
}
