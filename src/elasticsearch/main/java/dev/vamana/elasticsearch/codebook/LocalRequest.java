package dev.vamana.elasticsearch.codebook;

import org.elasticsearch.action.ActionRequestValidationException;
import org.elasticsearch.action.UntypedActionRequest;
import org.elasticsearch.action.support.TransportAction;
import org.elasticsearch.common.io.stream.StreamOutput;

/** A request that the node which receives it handles itself, so that it never leaves the node. */
abstract class LocalRequest extends UntypedActionRequest {

  @Override
  public ActionRequestValidationException validate() {
    return null;
  }

  @Override
  public final void writeTo(StreamOutput out) {
    TransportAction.localOnly();
  }
}
