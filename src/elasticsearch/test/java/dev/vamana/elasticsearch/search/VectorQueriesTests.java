package dev.vamana.elasticsearch.search;

import dev.vamana.codec.VamanaParameters;
import dev.vamana.codec.VamanaVectorsFormat;
import dev.vamana.elasticsearch.ServerClasses;
import dev.vamana.search.WalkChange;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.lucene.analysis.standard.StandardAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.KnnFloatVectorField;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.store.Directory;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.elasticsearch.TransportVersion;
import org.elasticsearch.cluster.metadata.IndexMetadata;
import org.elasticsearch.common.compress.CompressedXContent;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.index.IndexSettings;
import org.elasticsearch.index.IndexVersion;
import org.elasticsearch.index.analysis.AnalyzerScope;
import org.elasticsearch.index.analysis.IndexAnalyzers;
import org.elasticsearch.index.analysis.NamedAnalyzer;
import org.elasticsearch.index.mapper.MapperMetrics;
import org.elasticsearch.index.mapper.MapperService;
import org.elasticsearch.index.query.SearchExecutionContext;
import org.elasticsearch.index.similarity.SimilarityService;
import org.elasticsearch.indices.IndicesModule;
import org.elasticsearch.script.ScriptCompiler;
import org.elasticsearch.search.internal.AliasFilter;
import org.elasticsearch.search.profile.query.QueryProfiler;
import org.elasticsearch.search.vectors.ESKnnFloatVectorQuery;
import org.elasticsearch.xcontent.XContentParserConfiguration;
import org.junit.BeforeClass;

/** The queries that threads search one at a time on nodes without an executor. */
public class VectorQueriesTests extends LuceneTestCase {
  private static final int DIMS = 4;
  private static final int QUERIES = 20;

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static SearchExecutionContext context(boolean endsEarly) throws IOException {
    Settings settings =
        Settings.builder()
            .put(IndexMetadata.SETTING_VERSION_CREATED, IndexVersion.current())
            .put(IndexMetadata.SETTING_INDEX_UUID, "uuid")
            .put(IndexMetadata.SETTING_NUMBER_OF_SHARDS, 1)
            .put(IndexMetadata.SETTING_NUMBER_OF_REPLICAS, 0)
            .put("index.dense_vector.hnsw_enable_early_termination", endsEarly)
            .build();
    IndexSettings index =
        new IndexSettings(
            IndexMetadata.builder("photos").settings(settings).build(), Settings.EMPTY);
    MapperService mappers =
        new MapperService(
            TransportVersion::current,
            index,
            IndexAnalyzers.of(
                Map.of(
                    "default",
                    new NamedAnalyzer("default", AnalyzerScope.INDEX, new StandardAnalyzer()))),
            XContentParserConfiguration.EMPTY,
            new SimilarityService(index, null, Map.of()),
            new IndicesModule(List.of()).getMapperRegistry(),
            () -> null,
            () -> false,
            ScriptCompiler.NONE,
            query -> null,
            MapperMetrics.NOOP,
            null,
            () -> null);
    mappers.merge(
        "_doc",
        new CompressedXContent(
            """
            {"_doc": {"properties": {
              "v": {"type": "dense_vector", "dims": 4, "similarity": "l2_norm",
                    "index_options": {"type": "hnsw"}},
              "va": {"type": "alias", "path": "v"}}}}
            """),
        MapperService.MergeReason.MAPPING_UPDATE);
    return new SearchExecutionContext(
        0,
        0,
        index,
        null,
        null,
        mappers,
        mappers.mappingLookup(),
        null,
        ScriptCompiler.NONE,
        XContentParserConfiguration.EMPTY,
        null,
        null,
        null,
        () -> 0L,
        null,
        name -> true,
        () -> true,
        null,
        Map.of(),
        null,
        MapperMetrics.NOOP,
        null);
  }

  private static float[] vector(Random random) {
    float[] vector = new float[DIMS];
    for (int d = 0; d < DIMS; d++) {
      vector[d] = (float) random.nextGaussian();
    }
    return vector;
  }

  private static VectorSearch.Queries queries(boolean endsEarly, String field) throws IOException {
    Random random = new Random(7);
    float[][] vectors = new float[QUERIES][];
    for (int i = 0; i < QUERIES; i++) {
      vectors[i] = vector(random);
    }
    ShardQuery query =
        new ShardQuery(
            field,
            QueryVectors.ofFloats(vectors),
            10,
            200,
            QueryFilters.of(List.of()),
            null,
            WalkChange.NONE,
            false,
            null,
            true,
            0);
    return VectorQueries.of(context(endsEarly), query).filteredBy(AliasFilter.EMPTY);
  }

  private static long distances(IndexSearcher searcher, VectorSearch.Queries queries)
      throws IOException {
    QueryProfiler profiler = new QueryProfiler();
    for (int i = 0; i < QUERIES; i++) {
      ESKnnFloatVectorQuery query = (ESKnnFloatVectorQuery) queries.of(i);
      searcher.search(query, 10);
      query.profile(profiler);
    }
    return profiler.getVectorOpsCount();
  }

  /** The setting of the index ends standard searches; a batch is the same on every node. */
  public void testTheyTryEveryCandidate() throws IOException {
    VamanaParameters graphs =
        VamanaParameters.DEFAULT.withGraph(16, 40, 1.2f).withThresholds(0, Integer.MAX_VALUE);
    try (Directory directory = newDirectory();
        IndexWriter writer =
            new IndexWriter(
                directory,
                new IndexWriterConfig()
                    .setCodec(
                        TestUtil.alwaysKnnVectorsFormat(
                            new VamanaVectorsFormat(graphs, Workers.callingThread()))))) {
      Random random = new Random(3);
      for (int doc = 0; doc < 3_000; doc++) {
        Document document = new Document();
        document.add(
            new KnnFloatVectorField("v", vector(random), VectorSimilarityFunction.EUCLIDEAN));
        writer.addDocument(document);
      }
      writer.forceMerge(1);
      try (DirectoryReader reader = DirectoryReader.open(writer)) {
        IndexSearcher searcher = new IndexSearcher(reader);
        long all = distances(searcher, queries(false, "v"));
        assertTrue("distances " + all, all > 200 * QUERIES);
        assertEquals(all, distances(searcher, queries(true, "v")));
      }
    }
  }
}
