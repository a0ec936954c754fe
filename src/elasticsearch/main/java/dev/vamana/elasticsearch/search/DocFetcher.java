package dev.vamana.elasticsearch.search;

import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.search.RescoreDocIds;
import org.elasticsearch.search.SearchHit;
import org.elasticsearch.search.SearchService;
import org.elasticsearch.search.builder.SearchSourceBuilder;
import org.elasticsearch.search.fetch.FetchSearchResult;
import org.elasticsearch.search.fetch.ShardFetchSearchRequest;
import org.elasticsearch.search.fetch.subphase.FieldAndFormat;
import org.elasticsearch.search.internal.ShardSearchRequest;

/** Reads documents of an open reader. */
final class DocFetcher {

  private final SearchService service;
  private final IdCache ids;

  DocFetcher(SearchService service, IdCache ids) {
    this.service = service;
    this.ids = ids;
  }

  /**
   * Reads documents. Ids alone are read on the calling thread and on free threads of the pool.
   * Anything else is read by the fetch phase of the standard search, so that it is formatted as
   * there.
   *
   * @param charge charged for what is read
   * @param threads read ids
   */
  void fetch(
      ShardFetchRequest request,
      BatchSearchTask task,
      BreakerCharge charge,
      Workers threads,
      ActionListener<FetchedDocs> answer) {
    if (request.docs().length == 0) {
      answer.onResponse(FetchedDocs.NONE);
    } else if (request.fetch().idsOnly()) {
      ActionListener.completeWith(answer, () -> ids(request, task, charge, threads));
    } else {
      service.executeFetchPhase(
          standardRequest(request),
          task,
          null,
          answer.map(
              result -> {
                FetchedDocs fetched = take(result);
                charge.add(fetched.ramBytesUsed());
                return fetched;
              }));
    }
  }

  private FetchedDocs ids(
      ShardFetchRequest request, BatchSearchTask task, BreakerCharge charge, Workers threads)
      throws IOException {
    try (OpenShard shard =
        OpenShard.of(service, request.target().shardId(), request.reader(), task)) {
      shard.reader().validate(request);
      charge.add((long) request.docs().length * FetchedDocs.ID_BYTES);
      IdReader reader = new IdReader(shard.reader().indexService().mapperService(), threads, ids);
      return new FetchedDocs(
          reader.read(shard.searcher().getIndexReader().leaves(), request.docs()), null);
    }
  }

  private static FetchedDocs take(FetchSearchResult result) {
    SearchHit[] hits = result.hits().getHits();
    String[] ids = new String[hits.length];
    FetchedDocs.Content[] contents = new FetchedDocs.Content[hits.length];
    for (int i = 0; i < hits.length; i++) {
      ids[i] = hits[i].getId();
      contents[i] = FetchedDocs.Content.of(hits[i]);
    }
    return new FetchedDocs(ids, contents);
  }

  private static ShardFetchSearchRequest standardRequest(ShardFetchRequest request) {
    ShardTarget target = request.target();
    SearchSourceBuilder source = BatchInLog.source(request.batch());
    if (request.fetch().source() != null) {
      source.fetchSource(request.fetch().source());
    }
    for (FieldAndFormat field : request.fetch().fields()) {
      source.fetchField(field);
    }
    ShardSearchRequest search = target.standard(source, request.reader(), request.nowMillis());
    return new ShardFetchSearchRequest(
        target.names(),
        request.reader(),
        search,
        Arrays.stream(request.docs()).boxed().toList(),
        null,
        null,
        RescoreDocIds.EMPTY,
        null);
  }
}
