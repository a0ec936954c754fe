package dev.vamana.elasticsearch.codebook.action;

import dev.vamana.elasticsearch.codebook.Wire;
import dev.vamana.elasticsearch.codebook.sample.VectorSpace.Similarity;
import dev.vamana.elasticsearch.codebook.store.CodebookEntry;
import dev.vamana.elasticsearch.codebook.train.IndexTrainings;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.CodebookTraining;
import dev.vamana.pq.SharedCodebook;
import dev.vamana.pq.SubspaceLayout;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.apache.lucene.tests.util.TestUtil;
import org.elasticsearch.common.Strings;
import org.elasticsearch.common.io.stream.NamedWriteableRegistry;
import org.elasticsearch.index.query.MatchAllQueryBuilder;
import org.elasticsearch.index.query.QueryBuilder;

/** Requests and answers arrive as they were sent, and requests say what is wrong with them. */
public class CodebookActionsWireTests extends LuceneTestCase {

  private static CodebookEntry randomEntry() {
    CodebookEntry.Content content =
        new CodebookEntry.Content(
            1 + random().nextInt(100),
            Wire.randomSpace(random()),
            1 + random().nextInt(256),
            random().nextDouble(),
            random().nextInt(1_000_000),
            random().nextInt(1_000),
            TestUtil.randomUnicodeString(random()),
            random().nextInt());
    CodebookEntry.Claim claim =
        new CodebookEntry.Claim("node", TestUtil.randomUnicodeString(random()), random().nextInt());
    CodebookEntry.Failure failure =
        new CodebookEntry.Failure(TestUtil.randomUnicodeString(random()), random().nextInt());
    return new CodebookEntry(
        TestUtil.randomUnicodeString(random()),
        random().nextBoolean() ? content : null,
        random().nextBoolean() ? claim : null,
        random().nextBoolean() ? failure : null);
  }

  public void testAnswers() throws IOException {
    for (int i = 0; i < 50; i++) {
      List<CodebookView> views = new ArrayList<>();
      for (int n = random().nextInt(3); n > 0; n--) {
        CodebookEntry entry = random().nextBoolean() ? randomEntry() : null;
        views.add(
            CodebookView.of(
                TestUtil.randomUnicodeString(random()),
                entry,
                entry != null && entry.claim() != null && random().nextBoolean(),
                random().nextBoolean() ? Wire.randomStatus(random()) : null,
                random().nextBoolean() ? "data" : null));
      }
      CodebooksResponse sent = new CodebooksResponse(views);
      CodebooksResponse read = Wire.send(sent, CodebooksResponse::new);
      assertEquals(views, read.codebooks());
      assertEquals(Strings.toString(sent), Strings.toString(read));
    }
  }

  public void testGet() throws IOException {
    GetCodebooksRequest sent = new GetCodebooksRequest(List.of("a", "b*"), random().nextBoolean());
    GetCodebooksRequest read = Wire.send(sent, GetCodebooksRequest::new);
    assertEquals(sent.names(), read.names());
    assertEquals(sent.data(), read.data());
    assertNull(new GetCodebooksRequest(List.of("a"), true).validate());
    assertNull(new GetCodebooksRequest(List.of(), false).validate());
    for (List<String> wrong : List.of(List.<String>of(), List.of("a", "b"), List.of("a*"))) {
      assertNotNull(new GetCodebooksRequest(wrong, true).validate());
    }
  }

  public void testDelete() throws IOException {
    DeleteCodebookRequest sent = new DeleteCodebookRequest("a", random().nextBoolean());
    DeleteCodebookRequest read = Wire.send(sent, DeleteCodebookRequest::new);
    assertEquals("a", read.name());
    assertEquals(sent.force(), read.force());
  }

  public void testPut() throws IOException {
    float[] centroids = new float[Codebook.CENTROIDS * 3];
    for (int i = 0; i < centroids.length; i++) {
      centroids[i] = random().nextFloat();
    }
    SharedCodebook codebook =
        new SharedCodebook(
            "a",
            1,
            new Codebook(CodebookId.random(), new SubspaceLayout(3, 2), centroids),
            VectorSimilarityFunction.EUCLIDEAN,
            new CodebookTraining(5, 4, 0.5, "somewhere"));
    PutCodebookRequest read =
        Wire.send(
            new PutCodebookRequest(codebook, Similarity.L2_NORM, true), PutCodebookRequest::new);
    assertEquals(Similarity.L2_NORM, read.similarity());
    assertArrayEquals(codebook.toBytes(), read.codebook().toBytes());
  }

  public void testTrain() throws IOException {
    QueryBuilder query = random().nextBoolean() ? new MatchAllQueryBuilder() : null;
    IndexTrainings.Source source = new IndexTrainings.Source("i", "f", query, 300, 7);
    TrainCodebookRequest sent = new TrainCodebookRequest("a", source, random().nextBoolean());
    TrainCodebookRequest read =
        Wire.send(
            sent,
            TrainCodebookRequest::new,
            new NamedWriteableRegistry.Entry(
                QueryBuilder.class, MatchAllQueryBuilder.NAME, MatchAllQueryBuilder::new));
    assertEquals("a", read.name());
    assertEquals(source, read.source());
    assertEquals(sent.waits(), read.waits());
    assertNull(read.validate());
  }

  public void testWrongRequestsToTrain() throws IOException {
    IndexTrainings.Source wrong = new IndexTrainings.Source(null, "", null, 0, 257);
    TrainCodebookRequest request = new TrainCodebookRequest("A", wrong, true);
    assertEquals(5, request.validate().validationErrors().size());
    TrainCodebookRequest read = Wire.send(request, TrainCodebookRequest::new);
    assertEquals(wrong, read.source());
  }
}
