package dev.vamana.elasticsearch.rest;

import java.util.Locale;
import org.elasticsearch.ElasticsearchStatusException;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.unit.ByteSizeUnit;
import org.elasticsearch.common.unit.ByteSizeValue;
import org.elasticsearch.http.HttpTransportSettings;
import org.elasticsearch.rest.RestStatus;

/** Limits the length of a batched search's body. */
public final class BodyLimit {
  /**
   * The longest body. The default is below the server's limit for all requests, so that a client
   * with a large body gets an explanation instead of an empty answer.
   */
  public static final Setting<ByteSizeValue> MAX_BODY =
      Setting.byteSizeSetting(
          "vamana.batch.max_body",
          ByteSizeValue.of(64, ByteSizeUnit.MB),
          ByteSizeValue.of(1, ByteSizeUnit.KB),
          ByteSizeValue.ofBytes(Integer.MAX_VALUE),
          Property.NodeScope,
          Property.Dynamic);

  private final ByteSizeValue ofHttp;
  private volatile ByteSizeValue most;

  /**
   * Makes a limit that follows the setting.
   *
   * @param settings give the current values and announce changes
   */
  public BodyLimit(ClusterSettings settings) {
    ofHttp = settings.get(HttpTransportSettings.SETTING_HTTP_MAX_CONTENT_LENGTH);
    settings.initializeAndWatch(MAX_BODY, value -> most = value);
  }

  /**
   * Checks the length of a body in bytes.
   *
   * @throws ElasticsearchStatusException with status 413 if the body is too long; the message has
   *     this limit and the HTTP limit
   */
  void check(int length) {
    ByteSizeValue limit = most;
    if (length > limit.getBytes()) {
      throw new ElasticsearchStatusException(
          String.format(
              Locale.ROOT,
              "the body has [%d] bytes, allowed are at most [%d] by the setting [%s], which is"
                  + " [%s]; the limit of all requests is [%s], which is [%s]",
              length,
              limit.getBytes(),
              MAX_BODY.getKey(),
              limit,
              HttpTransportSettings.SETTING_HTTP_MAX_CONTENT_LENGTH.getKey(),
              ofHttp),
          RestStatus.REQUEST_ENTITY_TOO_LARGE);
    }
  }
}
