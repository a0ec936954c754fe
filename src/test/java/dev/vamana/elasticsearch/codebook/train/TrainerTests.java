package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.elasticsearch.codebook.sample.SampleMemory;
import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.elasticsearch.codebook.store.CodebookEntry;
import dev.vamana.elasticsearch.codebook.store.CodebookIndex;
import dev.vamana.elasticsearch.codebook.store.CodebookStore;
import dev.vamana.elasticsearch.search.RequestBreaker;
import dev.vamana.work.Workers;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
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
import org.elasticsearch.common.breaker.CircuitBreaker;
import org.elasticsearch.common.breaker.CircuitBreakingException;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.common.transport.TransportAddress;
import org.elasticsearch.index.get.GetResult;
import org.elasticsearch.index.seqno.SequenceNumbers;
import org.elasticsearch.index.shard.ShardId;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.tasks.TaskCancelledException;
import org.elasticsearch.telemetry.metric.MeterRegistry;
import org.elasticsearch.threadpool.DefaultBuiltInExecutorBuilders;
import org.elasticsearch.threadpool.ThreadPool;

/** A trainer over a store of one document, which this test keeps. */
public class TrainerTests extends LuceneTestCase {

  private static final VectorSpace SPACE = new VectorSpace(4, VectorSpace.Similarity.of("l2_norm"));

  private ThreadPool threads;
  private Document document;
  private Trainer trainer;
  private SampleMemory memory;
  private CircuitBreaker breaker;

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
    memory = new SampleMemory(1 << 24);
    breaker = RequestBreaker.withLimit(1 << 24);
    memory.countBy(breaker);
    trainer =
        new Trainer(
            new CodebookStore(document),
            memory,
            cluster,
            threads,
            document,
            new Workers(threads.generic(), 1));
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

  private CodebookEntry train(AtomicBoolean cancelled, boolean keepFailure) {
    List<float[]> rows = new ArrayList<>();
    for (int i = 0; i < 1_000; i++) {
      float[] row = new float[SPACE.dims()];
      for (int j = 0; j < row.length; j++) {
        row[j] = random().nextFloat();
      }
      rows.add(row);
    }
    PlainActionFuture<CodebookEntry> done = new PlainActionFuture<>();
    trainer.train(
        new TrainingPlan("book", SPACE, 2, 1_000, "test", false, keepFailure, cancelled::get),
        (most, kept, listener) -> {
          kept.add(rows.size());
          // the vectors are there when somebody cancels the task
          cancelled.compareAndSet(false, keepFailure);
          listener.onResponse(new VectorSource.Drawn(rows, rows.size()));
        },
        ActionListener.noop(),
        done);
    return done.actionGet(60, TimeUnit.SECONDS);
  }

  private CodebookEntry stored() {
    PlainActionFuture<CodebookStore.Found> found = new PlainActionFuture<>();
    new CodebookStore(document).find("book", found);
    return found.actionGet().entry();
  }

  public void testTrains() {
    assertNotNull(train(new AtomicBoolean(), false).content());
    assertNotNull(stored().content());
    assertEquals(0, breaker.getUsed());
  }

  public void testCancelledTrainingStoresNothing() {
    expectThrows(TaskCancelledException.class, () -> train(new AtomicBoolean(), true));
    assertNull(stored().content());
    assertTrue(stored().failure().reason(), stored().failure().reason().contains("cancelled"));
    assertEquals(0, breaker.getUsed());
  }

  public void testARefusedTrainingGivesEverythingBack() {
    breaker.setLimitAndOverhead(1_000, 1);
    CircuitBreakingException e =
        expectThrows(CircuitBreakingException.class, () -> train(new AtomicBoolean(), false));
    assertEquals(RestStatus.TOO_MANY_REQUESTS, e.status());
    assertEquals(0, breaker.getUsed());
    assertEquals(0, memory.used());
    breaker.setLimitAndOverhead(1 << 24, 1);
    assertNotNull(train(new AtomicBoolean(), false).content());
  }
}
