package dev.vamana.elasticsearch.rest;

import dev.vamana.elasticsearch.search.BatchSearchRequest;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.List;
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
    BatchSearchRequest request = new BatchSearchRequest("i");
    BatchBodyParser.parse(
        body, type, XContentParserConfiguration.EMPTY.withRegistry(QUERIES), request);
    return request;
  }

  /** Big-endian floats of a vector. */
  static byte[] bytes(float... vector) {
    ByteBuffer bytes = ByteBuffer.allocate(vector.length * Float.BYTES);
    for (float value : vector) {
      bytes.putFloat(value);
    }
    return bytes.array();
  }

  /** Big-endian floats of a vector, in base64. */
  static String base64(float... vector) {
    return Base64.getEncoder().encodeToString(bytes(vector));
  }
}
