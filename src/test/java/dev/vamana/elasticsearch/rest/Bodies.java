package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.search.BatchSearchRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.elasticsearch.action.search.SearchRequest;
import org.elasticsearch.common.bytes.BytesArray;
import org.elasticsearch.common.settings.Settings;
import org.elasticsearch.search.SearchModule;
import org.elasticsearch.xcontent.NamedXContentRegistry;
import org.elasticsearch.xcontent.XContentParserConfiguration;
import org.elasticsearch.xcontent.XContentType;

/** Bodies of batched searches, and the requests they are parsed to. */
final class Bodies {
  private static final NamedXContentRegistry QUERIES =
      new NamedXContentRegistry(new SearchModule(Settings.EMPTY, List.of()).getNamedXContents());

  private Bodies() {}

  /** The request that a body of JSON makes. */
  static BatchSearchRequest parse(String json) throws IOException {
    return parse(XContentType.JSON, new BytesArray(json));
  }

  /** The request that a body makes, for the index "i" and with no parameters. */
  static BatchSearchRequest parse(XContentType type, BytesArray body) throws IOException {
    return template(type).request(body);
  }

  private static RequestTemplate template(XContentType type) {
    return new RequestTemplate(
        new String[] {"i"},
        SearchRequest.DEFAULT_INDICES_OPTIONS,
        null,
        null,
        null,
        null,
        null,
        false,
        type,
        XContentParserConfiguration.EMPTY.withRegistry(QUERIES));
  }

  /** Floats of vectors one behind the other. */
  static byte[] bytes(ByteOrder order, float[]... vectors) {
    ByteBuffer bytes =
        ByteBuffer.allocate(Arrays.stream(vectors).mapToInt(v -> v.length * Float.BYTES).sum())
            .order(order);
    for (float[] vector : vectors) {
      for (float value : vector) {
        bytes.putFloat(value);
      }
    }
    return bytes.array();
  }

  /** Big-endian floats of vectors one behind the other, in base64. */
  static String base64(float[]... vectors) {
    return Base64.getEncoder().encodeToString(bytes(ByteOrder.BIG_ENDIAN, vectors));
  }
}
