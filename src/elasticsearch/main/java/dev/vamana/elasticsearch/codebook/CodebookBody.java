package dev.vamana.elasticsearch.codebook;

import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import dev.vamana.pq.Codebook;
import dev.vamana.pq.CodebookId;
import dev.vamana.pq.CodebookTraining;
import dev.vamana.pq.SharedCodebook;
import dev.vamana.pq.SubspaceLayout;
import java.io.IOException;
import java.nio.FloatBuffer;
import java.util.List;
import org.apache.lucene.util.StringHelper;
import org.elasticsearch.index.mapper.vectors.DenseVectorFieldMapper.VectorSimilarity;
import org.elasticsearch.xcontent.ObjectParser;
import org.elasticsearch.xcontent.ObjectParser.ValueType;
import org.elasticsearch.xcontent.ParseField;
import org.elasticsearch.xcontent.XContentParser;

/** The body of an import. An invalid field causes an IllegalArgumentException that names it. */
final class CodebookBody {
  private static final ObjectParser<CodebookBody, Void> PARSER =
      new ObjectParser<>("codebook", CodebookBody::new);

  static {
    PARSER.declareField(
        (body, data) -> body.data = data,
        (parser, none) -> parser.binaryValue(),
        new ParseField("data"),
        ValueType.VALUE);
    PARSER.declareField(
        (body, centroids) -> body.centroids = centroids,
        (parser, none) -> parser.list(),
        new ParseField("centroids"),
        ValueType.OBJECT_ARRAY);
    PARSER.declareInt((body, dims) -> body.dims = dims, new ParseField("dims"));
    PARSER.declareInt((body, count) -> body.subspaces = count, new ParseField("subspaces"));
    PARSER.declareString(
        (body, name) -> body.similarity = VectorSpace.similarity(name),
        new ParseField("similarity"));
    PARSER.declareString((body, from) -> body.trainedFrom = from, new ParseField("trained_from"));
  }

  private byte[] data;
  private List<Object> centroids;
  private int dims;
  private int subspaces;
  private VectorSimilarity similarity;
  private String trainedFrom;

  /**
   * A codebook as given.
   *
   * @param codebook the codebook, as version 1
   * @param space the vectors that it is for
   */
  record Given(SharedCodebook codebook, VectorSpace space) {}

  /** Reads a codebook that gets a name. */
  static Given read(String name, XContentParser parser) throws IOException {
    SharedCodebook.checkName(name);
    CodebookBody body = PARSER.parse(parser, null);
    if ((body.data == null) == (body.centroids == null)) {
      throw new IllegalArgumentException("exactly one of [data] and [centroids] must be given");
    }
    Given given = body.data == null ? body.ofCentroids(name) : body.ofData(name);
    for (float value : given.codebook().codebook().centroids()) {
      if (!Float.isFinite(value)) {
        throw new IllegalArgumentException("centroids must be finite, one has [" + value + "]");
      }
    }
    return given;
  }

  private Given ofData(String name) {
    if (dims != 0 || subspaces != 0 || similarity != null || trainedFrom != null) {
      throw new IllegalArgumentException("[data] is a whole codebook, no other key may be given");
    }
    SharedCodebook given = SharedCodebook.fromBytes(data);
    VectorSimilarity of =
        switch (given.similarity()) {
          case EUCLIDEAN -> VectorSimilarity.L2_NORM;
          case COSINE, DOT_PRODUCT -> VectorSimilarity.COSINE;
          case MAXIMUM_INNER_PRODUCT -> VectorSimilarity.MAX_INNER_PRODUCT;
        };
    return new Given(
        new SharedCodebook(name, 1, given.codebook(), given.similarity(), given.training()),
        new VectorSpace(given.dimension(), of));
  }

  private Given ofCentroids(String name) {
    if (similarity == null) {
      throw new IllegalArgumentException("[similarity] is missing");
    }
    SampleOptions.checkDims(dims);
    SampleOptions.checkSubspaces(subspaces, dims);
    SubspaceLayout layout = SampleOptions.layout(dims, subspaces);
    float[] values = new float[Codebook.CENTROIDS * dims];
    fill(layout, FloatBuffer.wrap(values));
    Codebook codebook =
        new Codebook(new CodebookId(StringHelper.randomId(), name, 1), layout, values);
    CodebookTraining training =
        new CodebookTraining(0, 0, 0, trainedFrom == null ? "import" : trainedFrom);
    VectorSpace space = new VectorSpace(dims, similarity);
    return new Given(new SharedCodebook(name, 1, codebook, space.function(), training), space);
  }

  private void fill(SubspaceLayout layout, FloatBuffer values) {
    List<?> parts = list("[centroids]", centroids, layout.count());
    for (int s = 0; s < layout.count(); s++) {
      String where = "[centroids] of subspace " + s;
      for (Object row : list(where, parts.get(s), Codebook.CENTROIDS)) {
        for (Object component : list("each of " + where, row, layout.length(s))) {
          if (!(component instanceof Number number)) {
            throw new IllegalArgumentException(where + " must be numbers, got [" + component + "]");
          }
          values.put(number.floatValue());
        }
      }
    }
  }

  private static List<?> list(String what, Object value, int size) {
    if (value instanceof List<?> list && list.size() == size) {
      return list;
    }
    String got = value instanceof List<?> list ? list.size() + " elements" : "no array";
    throw new IllegalArgumentException(
        what + " must be an array of " + size + " elements, got " + got);
  }
}
