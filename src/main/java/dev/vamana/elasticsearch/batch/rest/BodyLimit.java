package dev.vamana.elasticsearch.batch.rest;

import java.util.Locale;
import org.elasticsearch.ElasticsearchStatusException;
import org.elasticsearch.common.settings.ClusterSettings;
import org.elasticsearch.common.settings.Setting;
import org.elasticsearch.common.settings.Setting.Property;
import org.elasticsearch.common.unit.ByteSizeUnit;
import org.elasticsearch.common.unit.ByteSizeValue;
import org.elasticsearch.http.HttpTransportSettings;
import org.elasticsearch.rest.RestStatus;

/** How long the body of a batched search may be. */
public final class BodyLimit {
  /**
   * The longest body. Below the server's own limit for all requests, so that a client that comes
   * near reads a message that says what to do instead of an empty answer.
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
   * A limit that follows the setting.
   *
   * @param settings have the values, and tell when they change
   */
  public BodyLimit(ClusterSettings settings) {
    ofHttp = settings.get(HttpTransportSettings.SETTING_HTTP_MAX_CONTENT_LENGTH);
    settings.initializeAndWatch(MAX_BODY, value -> most = value);
  }

  /**
   * Does nothing unless a body is too long.
   *
   * @throws ElasticsearchStatusException with status 413, this limit and that of HTTP
   */
  void check(int length) {
    ByteSizeValue limit = most;
    if (length > limit.getBytes()) {
      throw new ElasticsearchStatusException(
          String.format(
              Locale.ROOT,
              "the body has [%d] bytes, allowed are at most [%d] by the setting [%s], which is"
                  + " [%s]; no request at all may have more than [%s], which is [%s]",
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
