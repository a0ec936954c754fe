package dev.vamana.tools.batch;

import dev.vamana.tools.demo.KnnIndex;
import dev.vamana.tools.node.NodeClient;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** A kind of request for the neighbours of many vectors. */
public enum Kind {
  MSEARCH("_msearch", "_msearch", "application/x-ndjson"),
  JSON_HITS("batch, numbers, hits", "_vamana/search", "application/json"),
  BASE64_HITS("batch, base64, hits", "_vamana/search", "application/json"),
  JSON_COLUMNS("batch, numbers, columns", "_vamana/search", "application/json"),
  BASE64_COLUMNS("batch, base64, columns", "_vamana/search", "application/json");

  private final String label;
  private final String endpoint;
  private final String contentType;

  Kind(String label, String endpoint, String contentType) {
    this.label = label;
    this.endpoint = endpoint;
    this.contentType = contentType;
  }

  /** The label in tables. */
  public String label() {
    return label;
  }

  String endpoint() {
    return endpoint;
  }

  String contentType() {
    return contentType;
  }

  private boolean columns() {
    return this == JSON_COLUMNS || this == BASE64_COLUMNS;
  }

  /**
   * Makes the body of a request for the k nearest documents of each vector, without their sources.
   */
  byte[] body(float[][] vectors, int k, int numCandidates) {
    StringBuilder body = new StringBuilder(vectors.length * vectors[0].length * 8);
    if (this == MSEARCH) {
      for (float[] vector : vectors) {
        body.append("{}\n").append(KnnIndex.query(vector, k, numCandidates)).append('\n');
      }
    } else {
      body.append("{\"field\":\"").append(KnnIndex.FIELD);
      body.append("\",\"_source\":false,\"k\":").append(k);
      body.append(",\"num_candidates\":").append(numCandidates);
      body.append(",\"format\":\"").append(columns() ? "columns" : "hits");
      body.append("\",\"query_vectors\":");
      String separator = "[";
      for (float[] vector : vectors) {
        body.append(separator);
        if (this == BASE64_HITS || this == BASE64_COLUMNS) {
          body.append('"').append(base64(vector)).append('"');
        } else {
          KnnIndex.appendVector(body, vector);
        }
        separator = ",";
      }
      body.append("]}");
    }
    return body.toString().getBytes(StandardCharsets.UTF_8);
  }

  private static String base64(float[] vector) {
    ByteBuffer bytes = ByteBuffer.allocate(vector.length * Float.BYTES);
    bytes.asFloatBuffer().put(vector);
    return Base64.getEncoder().encodeToString(bytes.array());
  }

  /**
   * Reads the ids in an answer, best first, one row per query vector.
   *
   * @throws IllegalStateException if the answer is partial or timed out
   */
  List<int[]> ids(String answer) {
    Map<String, Object> json = new NodeClient.Response(200, answer, List.of()).json();
    List<int[]> ids = new ArrayList<>();
    if (columns()) {
      checkComplete(json);
      for (Object row : (List<?>) json.get("ids")) {
        ids.add(((List<?>) row).stream().mapToInt(id -> Integer.parseInt((String) id)).toArray());
      }
      return ids;
    }
    if (this != MSEARCH) {
      checkComplete(json);
    }
    for (Object response : (List<?>) json.get("responses")) {
      if (this == MSEARCH) {
        checkComplete(response);
      }
      List<?> hits = (List<?>) NodeClient.at(response, "hits", "hits");
      ids.add(
          hits.stream()
              .mapToInt(hit -> Integer.parseInt((String) NodeClient.at(hit, "_id")))
              .toArray());
    }
    return ids;
  }

  private static void checkComplete(Object response) {
    Object failed = NodeClient.at(response, "_shards", "failed");
    Object timedOut = NodeClient.at(response, "timed_out");
    if (Integer.valueOf(0).equals(failed) == false || Boolean.FALSE.equals(timedOut) == false) {
      throw new IllegalStateException("incomplete answer: " + response);
    }
  }
}
