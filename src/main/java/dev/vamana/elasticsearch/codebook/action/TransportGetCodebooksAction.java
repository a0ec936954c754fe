package dev.vamana.elasticsearch.codebook.action;

import dev.vamana.elasticsearch.codebook.sample.SampleStatus;
import dev.vamana.elasticsearch.codebook.store.CodebookEntry;
import dev.vamana.elasticsearch.codebook.store.CodebookIndex;
import dev.vamana.elasticsearch.codebook.store.CodebookStore;
import dev.vamana.elasticsearch.codebook.train.Trainer;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import org.elasticsearch.ResourceNotFoundException;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.support.ActionFilters;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.client.internal.OriginSettingClient;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.regex.Regex;
import org.elasticsearch.injection.guice.Inject;
import org.elasticsearch.tasks.Task;
import org.elasticsearch.threadpool.ThreadPool;
import org.elasticsearch.transport.TransportService;

/** Lists codebooks with their state. */
public final class TransportGetCodebooksAction
    extends CodebookAction<GetCodebooksRequest, CodebooksResponse> {

  /** The action. It requires the privilege to monitor the cluster. */
  public static final ActionType<CodebooksResponse> TYPE =
      new ActionType<>("cluster:monitor/vamana/codebooks/get");

  private final ClusterService cluster;
  private final Client client;

  /** Called by the node. */
  @Inject
  public TransportGetCodebooksAction(
      TransportService transport,
      ActionFilters filters,
      ThreadPool threads,
      ClusterService cluster,
      Client client,
      CodebookStore store,
      Trainer trainer) {
    super(TYPE, transport, filters, threads, GetCodebooksRequest::new, store, trainer);
    this.cluster = cluster;
    this.client = new OriginSettingClient(client, CodebookIndex.ORIGIN);
  }

  @Override
  protected void doExecute(
      Task task, GetCodebooksRequest request, ActionListener<CodebooksResponse> listener) {
    Samplings.of(
        client,
        cluster.state(),
        listener.delegateFailureAndWrap(
            (l, samples) -> {
              if (request.data()) {
                one(request.names().get(0), samples, l);
              } else {
                store().list(l.map(entries -> answer(request.names(), entries, samples)));
              }
            }));
  }

  private void one(
      String name, Map<String, SampleStatus> samples, ActionListener<CodebooksResponse> listener) {
    store()
        .find(
            name,
            listener.map(
                found -> {
                  if (!found.exists() && !samples.containsKey(name)) {
                    throw unknown(name);
                  }
                  return new CodebooksResponse(
                      List.of(view(name, found.entry(), samples.get(name), found.data())));
                }));
  }

  private CodebooksResponse answer(
      List<String> names, List<CodebookEntry> entries, Map<String, SampleStatus> samples) {
    Map<String, CodebookEntry> stored = new TreeMap<>();
    entries.forEach(entry -> stored.put(entry.name(), entry));
    NavigableSet<String> known = new TreeSet<>(stored.keySet());
    known.addAll(samples.keySet());
    List<CodebookView> views = new ArrayList<>();
    for (String name : wanted(names, known)) {
      views.add(view(name, stored.get(name), samples.get(name), null));
    }
    return new CodebooksResponse(views);
  }

  private static Iterable<String> wanted(List<String> names, NavigableSet<String> known) {
    if (names.isEmpty()) {
      return known;
    }
    NavigableSet<String> wanted = new TreeSet<>();
    for (String name : names) {
      if (Regex.isSimpleMatchPattern(name)) {
        Predicate<String> matches = candidate -> Regex.simpleMatch(name, candidate);
        known.stream().filter(matches).forEach(wanted::add);
      } else if (known.contains(name)) {
        wanted.add(name);
      } else {
        throw unknown(name);
      }
    }
    return Collections.unmodifiableNavigableSet(wanted);
  }

  static ResourceNotFoundException unknown(String name) {
    return new ResourceNotFoundException("there is no codebook [" + name + "]");
  }

  private CodebookView view(String name, CodebookEntry entry, SampleStatus sample, String data) {
    return CodebookView.of(name, entry, entry != null && trainer().claimed(entry), sample, data);
  }
}
