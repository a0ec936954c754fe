package dev.vamana.elasticsearch.monitor.segments;

import dev.vamana.elasticsearch.ServerClasses;
import java.util.HashSet;
import java.util.Set;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.cluster.ClusterName;
import org.elasticsearch.cluster.ClusterState;
import org.elasticsearch.cluster.metadata.IndexMetadata;
import org.elasticsearch.cluster.metadata.Metadata;
import org.elasticsearch.cluster.metadata.ProjectId;
import org.elasticsearch.cluster.metadata.ProjectMetadata;
import org.elasticsearch.cluster.routing.GlobalRoutingTable;
import org.elasticsearch.cluster.routing.IndexRoutingTable;
import org.elasticsearch.cluster.routing.RecoverySource;
import org.elasticsearch.cluster.routing.RoutingTable;
import org.elasticsearch.cluster.routing.ShardRouting;
import org.elasticsearch.cluster.routing.UnassignedInfo;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.Index;
import org.elasticsearch.index.IndexVersion;
import org.elasticsearch.index.shard.ShardId;
import org.junit.BeforeClass;

/** Copies of shards that cannot have segments in our format. */
public class RemovalCheckTests extends LuceneTestCase {
  private static final Index INDEX = new Index("photos", "uuid");
  private static final ShardId SHARD = new ShardId(INDEX, 0);

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static ShardRouting copy(boolean primary) {
    return ShardRouting.newUnassigned(
        SHARD,
        primary,
        primary
            ? RecoverySource.EmptyStoreRecoverySource.INSTANCE
            : RecoverySource.PeerRecoverySource.INSTANCE,
        new UnassignedInfo(UnassignedInfo.Reason.INDEX_CREATED, "test"),
        ShardRouting.Role.DEFAULT);
  }

  private static ShardRouting started(boolean primary, String node) {
    return copy(primary).initialize(node, null, 0).moveToStarted(0);
  }

  private static ClusterState state(
      IndexMetadata.State open, Set<String> inSync, ShardRouting... copies) {
    IndexMetadata metadata =
        IndexMetadata.builder(INDEX.getName())
            .settings(
                Settings.builder()
                    .put(IndexMetadata.SETTING_VERSION_CREATED, IndexVersion.current())
                    .put(IndexMetadata.SETTING_INDEX_UUID, INDEX.getUUID()))
            .numberOfShards(1)
            .numberOfReplicas(copies.length - 1)
            .state(open)
            .putInSyncAllocationIds(0, inSync)
            .build();
    IndexRoutingTable.Builder routing = IndexRoutingTable.builder(INDEX);
    for (ShardRouting copy : copies) {
      routing.addShard(copy);
    }
    ProjectId project = ProjectId.DEFAULT;
    return ClusterState.builder(ClusterName.DEFAULT)
        .metadata(Metadata.builder().put(ProjectMetadata.builder(project).put(metadata, false)))
        .routingTable(
            GlobalRoutingTable.builder()
                .put(project, RoutingTable.builder().add(routing).build())
                .build())
        .build();
  }

  private static void assertNeverStarted(
      int expected, Set<String> alsoInSync, ShardRouting primary, ShardRouting... replicas) {
    Set<String> inSync = new HashSet<>(alsoInSync);
    ShardRouting[] copies = new ShardRouting[replicas.length + 1];
    copies[0] = primary;
    System.arraycopy(replicas, 0, copies, 1, replicas.length);
    for (ShardRouting copy : copies) {
      if (copy.active()) {
        inSync.add(copy.allocationId().getId());
      }
    }
    assertEquals(
        expected, RemovalCheck.neverStarted(state(IndexMetadata.State.OPEN, inSync, copies)));
    assertEquals(0, RemovalCheck.neverStarted(state(IndexMetadata.State.CLOSE, inSync, copies)));
  }

  /** A replica that is in sync lies on a node that is away, and may come back. */
  public void testReplicasThatAreAwayMayHaveSegments() {
    assertNeverStarted(0, Set.of("away"), started(true, "a"), copy(false));
    assertNeverStarted(1, Set.of("away"), started(true, "a"), copy(false), copy(false));
  }
}
