package dev.vamana.elasticsearch.monitor.openmetrics;

import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;

/** Requests for answers in the OpenMetrics text format, and those answers. */
public final class OpenMetrics {

  /** The content type of answers. */
  public static final String CONTENT_TYPE =
      "application/openmetrics-text; version=1.0.0; charset=utf-8";

  private static final String FORMAT = "format";
  private static final String NAME = "openmetrics";

  private OpenMetrics() {}

  /**
   * Whether a request asks for this format by its parameter {@code format}. Elasticsearch handles
   * all other values. The header {@code Accept} is not looked at: scrapers name this format in it
   * whatever they ask for.
   */
  public static boolean isAskedFor(RestRequest request) {
    return NAME.equals(request.param(FORMAT));
  }

  /** Makes the answer. */
  public static RestResponse answer(Exposition exposition) {
    return new RestResponse(RestStatus.OK, CONTENT_TYPE, exposition.text());
  }
}
