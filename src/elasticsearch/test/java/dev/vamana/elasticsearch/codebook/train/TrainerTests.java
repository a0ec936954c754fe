package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.elasticsearch.codebook.store.CodebookEntry;
import dev.vamana.elasticsearch.codebook.store.CodebookIndex;
import dev.vamana.elasticsearch.codebook.store.CodebookStore;
import dev.vamana.work.Workers;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.action.ActionRequest;
import org.elasticsearch.action.ActionResponse;
import org.elasticsearch.action.ActionType;
import org.elasticsearch.action.delete.DeleteRequest;
import org.elasticsearch.action.delete.DeleteResponse;
import org.elasticsearch.action.get.GetRequest;
import org.elasticsearch.action.get.GetResponse;
import org.elasticsearch.action.index.IndexRequest;
import org.elasticsearch.action.index.IndexResponse;
import org.elasticsearch.action.support.PlainActionFuture;
import org.elasticsearch.client.internal.support.AbstractClient;
import org.elasticsearch.cluster.node.DiscoveryNode;
import org.elasticsearch.cluster.project.DefaultProjectResolver;
import org.elasticsearch.cluster.service.ClusterService;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.transport.TransportAddress;
import org.elasticsearch.index.get.GetResult;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.VectorSimilarity;
import org.elasticsearch.index.seqno.SequenceNumbers;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.tasks.TaskCancelledException;
import org.elasticsearch.telemetry.metric.MeterRegistry;
import org.elasticsearch.threadpool.DefaultBuiltInExecutorBuilders;
import org.elasticsearch.threadpool.ThreadPool;

/** A trainer over a store of one document, which this test keeps. */
public class TrainerTests extends LuceneTestCase {

  private static final VectorSpace SPACE = new VectorSpace(4, VectorSimilarity.L2_NORM);
  private static final SampleOptions OPTIONS = new SampleOptions(SPACE, 2, 1_000, 1_000);

  private ThreadPool threads;
  private Document document;
  private Trainer trainer;

  @Override
  public void setUp() throws Exception {
    super.setUp();
    ServerClasses.ready();
    Settings settings = Settings.builder().put("node.name", "test").build();
    threads = new ThreadPool(settings, MeterRegistry.NOOP, new DefaultBuiltInExecutorBuilders());
    document = new Document(threads);
    ClusterService cluster =
        new ClusterService(
            settings,
            new ClusterSettings(settings, ClusterSettings.BUILT_IN_CLUSTER_SETTINGS),
            threads,
            null) {
          private final DiscoveryNode node =
              DiscoveryNode.createLocal(
                  settings, new TransportAddress(InetAddress.getLoopbackAddress(), 9300), "node");

          @Override
          public DiscoveryNode localNode() {
            return node;
          }
        };
    trainer =
        new Trainer(
            new CodebookStore(document),
            cluster,
            threads::absoluteTimeInMillis,
            new Workers(Runnable::run, 1));
  }

  @Override
  public void tearDown() throws Exception {
    ThreadPool.terminate(threads, 10, TimeUnit.SECONDS);
    super.tearDown();
  }

  /** The document of the codebook. */
  private static final class Document extends AbstractClient {
    private BytesReference bytes;
    private long version;

    Document(ThreadPool threads) {
      super(Settings.EMPTY, threads, DefaultProjectResolver.INSTANCE);
    }

    @Override
    @SuppressWarnings("unchecked")
    protected synchronized <Q extends ActionRequest, A extends ActionResponse> void doExecute(
        ActionType<A> action, Q request, ActionListener<A> listener) {
      ShardId shard = new ShardId(CodebookIndex.NAME, "_na_", 0);
      if (request instanceof GetRequest get) {
        GetResult result =
            new GetResult(
                CodebookIndex.NAME,
                get.id(),
                bytes != null ? version : SequenceNumbers.UNASSIGNED_SEQ_NO,
                bytes != null ? 1 : SequenceNumbers.UNASSIGNED_PRIMARY_TERM,
                bytes != null ? version : -1,
                bytes != null,
                bytes,
                Map.of(),
                Map.of());
        listener.onResponse((A) new GetResponse(result));
      } else if (request instanceof IndexRequest index) {
        bytes = index.source();
        version++;
        listener.onResponse((A) new IndexResponse(shard, index.id(), version, 1, version, true));
      } else if (request instanceof DeleteRequest delete) {
        bytes = null;
        version++;
        listener.onResponse((A) new DeleteResponse(shard, delete.id(), version, 1, version, true));
      } else {
        listener.onFailure(new UnsupportedOperationException(action.name()));
      }
    }
  }

  private CodebookEntry train(int count, BooleanSupplier cancelled) {
    List<float[]> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      float[] row = new float[SPACE.dims()];
      for (int j = 0; j < row.length; j++) {
        row[j] = random().nextFloat();
      }
      rows.add(row);
    }
    PlainActionFuture<CodebookEntry> done = new PlainActionFuture<>();
    trainer.train(
        new Trainer.Plan("book", OPTIONS, "test", false, cancelled),
        listener -> listener.onResponse(new Trainer.Drawn(rows, rows.size())),
        done);
    return done.actionGet(60, TimeUnit.SECONDS);
  }

  private CodebookStore.Found stored() {
    PlainActionFuture<CodebookStore.Found> found = new PlainActionFuture<>();
    new CodebookStore(document).find("book", found);
    return found.actionGet();
  }

  /** Somebody cancels the training at each of the moments at which it looks. */
  public void testCancelledTrainingStoresNothing() {
    AtomicInteger looks = new AtomicInteger();
    train(
        256,
        () -> {
          looks.incrementAndGet();
          return false;
        });
    int all = looks.get();
    assertTrue("looks " + all, all > 2);
    assertEquals(1, stored().entry().version());
    for (int moment : new int[] {1, 2, all / 2, all - 1, all}) {
      looks.set(0);
      expectThrows(
          TaskCancelledException.class, () -> train(256, () -> looks.incrementAndGet() >= moment));
      assertEquals("cancelled at look " + moment, 1, stored().entry().version());
      Map<?, ?> failure = (Map<?, ?>) stored().entry().shown(false).get("failure");
      assertTrue(failure.toString(), failure.get("reason").toString().contains("cancelled"));
      assertFalse(trainer.trains(stored().entry()));
    }
    assertEquals(2, train(256, () -> false).version());
    assertFalse(stored().entry().failed());
  }
}
