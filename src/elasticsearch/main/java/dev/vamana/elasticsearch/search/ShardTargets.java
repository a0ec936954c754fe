package dev.vamana.elasticsearch.search;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.elasticsearch.action.OriginalIndices;
import org.elasticsearch.action.ResolvedIndices;
import org.elasticsearch.action.search.TransportSearchAction;
import org.elasticsearch.cluster.ProjectState;
import org.elasticsearch.cluster.block.ClusterBlockLevel;
import org.elasticsearch.cluster.metadata.IndexAbstraction;
import org.elasticsearch.cluster.metadata.IndexMetadata;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver;
import org.elasticsearch.cluster.metadata.IndexNameExpressionResolver.ResolvedExpression;
import org.elasticsearch.cluster.metadata.ProjectMetadata;
import org.elasticsearch.cluster.routing.OperationRouting;
import org.elasticsearch.cluster.routing.SearchShardRouting;
import org.elasticsearch.cluster.routing.ShardRouting;
import org.elasticsearch.index.Index;
import org.elasticsearch.search.SearchService;
import org.elasticsearch.search.internal.AliasFilter;
import org.elasticsearch.transport.RemoteClusterService;

/**
 * The shards of a batched search, in the order in which a search merges equal scores of different
 * shards.
 *
 * @param indices the resolved names of the request
 * @param shards the shards, each once
 */
record ShardTargets(ResolvedIndices indices, List<Copies> shards) {

  /**
   * A shard and its copies.
   *
   * @param target the shard
   * @param nodes ids of the nodes with a copy, in the order in which they are tried
   */
  record Copies(ShardTarget target, List<String> nodes) {}

  /**
   * Resolves the names of a request.
   *
   * @throws IllegalArgumentException if a name belongs to another cluster, or there are more shards
   *     than the cluster allows
   * @throws org.elasticsearch.index.IndexNotFoundException if a name matches nothing and the
   *     request's options do not allow that
   * @throws org.elasticsearch.cluster.block.ClusterBlockException if reads of an index are blocked
   */
  static ShardTargets resolve(
      BatchSearchRequest request,
      ProjectState project,
      IndexNameExpressionResolver names,
      RemoteClusterService remotes,
      OperationRouting routing,
      SearchService service,
      long mostShards,
      long nowMillis) {
    project.blocks().globalBlockedRaiseException(project.projectId(), ClusterBlockLevel.READ);
    ResolvedIndices resolved =
        ResolvedIndices.resolveWithIndicesRequest(
            request, project.metadata(), names, remotes, nowMillis);
    if (resolved.getRemoteClusterIndices().isEmpty() == false) {
      throw new IllegalArgumentException(
          "a batched search requires indices of the local cluster, but some are of "
              + resolved.getRemoteClusterIndices().keySet());
    }
    Set<ResolvedExpression> expressions =
        names.resolveExpressionsIgnoringRemotes(project.metadata(), request.indices());
    Map<Index, ShardNames> ofIndex =
        Stream.of(resolved.getConcreteLocalIndices())
            .collect(
                Collectors.toMap(
                    index -> index,
                    index -> ShardNames.of(request, project, names, service, expressions, index)));
    String[] searched =
        ofIndex.keySet().stream()
            .map(Index::getName)
            .filter(name -> isRefreshBlocked(project, name) == false)
            .toArray(String[]::new);
    List<SearchShardRouting> found =
        new ArrayList<>(
            routing.searchShards(
                project,
                searched,
                names.resolveSearchRouting(
                    project.metadata(), request.routing(), request.indices()),
                request.preference()));
    if (found.size() > mostShards) {
      throw new IllegalArgumentException(
          "the search is of ["
              + found.size()
              + "] shards, allowed are at most ["
              + mostShards
              + "] by the setting ["
              + TransportSearchAction.SHARD_COUNT_LIMIT_SETTING.getKey()
              + "]");
    }
    found.sort(SearchShardRouting::compareTo);
    return new ShardTargets(
        resolved,
        IntStream.range(0, found.size())
            .mapToObj(i -> ofIndex.get(found.get(i).shardId().getIndex()).copies(i, found.get(i)))
            .toList());
  }

  /**
   * Whether an index is being restored or created; like a search, a batched search leaves it out.
   */
  private static boolean isRefreshBlocked(ProjectState project, String index) {
    return project
        .blocks()
        .hasIndexBlock(project.projectId(), index, IndexMetadata.INDEX_REFRESH_BLOCK);
  }

  /** The names in a request that an index belongs to, and the filter of the documents they show. */
  private record ShardNames(OriginalIndices names, AliasFilter filter) {

    static ShardNames of(
        BatchSearchRequest request,
        ProjectState project,
        IndexNameExpressionResolver resolver,
        SearchService service,
        Set<ResolvedExpression> expressions,
        Index index) {
      project
          .blocks()
          .indexBlockedRaiseException(project.projectId(), ClusterBlockLevel.READ, index.getName());
      Set<String> resources =
          expressions.stream().map(ResolvedExpression::resource).collect(Collectors.toSet());
      String[] aliases = resolver.allIndexAliases(project.metadata(), index.getName(), expressions);
      List<String> names = new ArrayList<>();
      if (aliases == null
          || aliases.length == 0
          || resources.contains(index.getName())
          || isOfNamedStream(project.metadata(), resources, index)) {
        names.add(index.getName());
      }
      if (aliases != null) {
        names.addAll(List.of(aliases));
      }
      return new ShardNames(
          new OriginalIndices(names.toArray(String[]::new), request.indicesOptions()),
          service.buildAliasFilter(project, index.getName(), expressions));
    }

    private static boolean isOfNamedStream(
        ProjectMetadata metadata, Set<String> resources, Index index) {
      IndexAbstraction abstraction = metadata.getIndicesLookup().get(index.getName());
      return abstraction != null
          && abstraction.getParentDataStream() != null
          && resources.contains(abstraction.getParentDataStream().getName());
    }

    Copies copies(int number, SearchShardRouting shard) {
      List<String> nodes = new ArrayList<>();
      for (ShardRouting copy : shard.getShardRoutings()) {
        nodes.add(copy.currentNodeId());
      }
      return new Copies(
          new ShardTarget(number, shard.shardId(), names, filter, shard.splitShardCountSummary()),
          nodes);
    }
  }
}
