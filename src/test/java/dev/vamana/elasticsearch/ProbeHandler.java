package dev.vamana.elasticsearch;

import dev.vamana.search.SegmentView;
import dev.vamana.search.SegmentViews;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.perfield.PerFieldKnnVectorsFormat;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.index.SegmentReader;
import org.apache.lucene.store.IndexInput;
import org.elasticsearch.client.internal.node.NodeClient;
import org.elasticsearch.common.lucene.Lucene;
import org.elasticsearch.index.IndexService;
import org.elasticsearch.index.engine.Engine;
import org.elasticsearch.index.shard.IndexShard;
import org.elasticsearch.indices.IndicesService;
import org.elasticsearch.rest.BaseRestHandler;
import org.elasticsearch.rest.RestRequest;
import org.elasticsearch.rest.RestResponse;
import org.elasticsearch.rest.RestStatus;
import org.elasticsearch.xcontent.XContentBuilder;

/** Shows the segments of an index on this node as our readers have them open. */
final class ProbeHandler extends BaseRestHandler {
  private final Supplier<IndicesService> indices;
  private final LongSupplier workItems;

  ProbeHandler(Supplier<IndicesService> indices, LongSupplier workItems) {
    this.indices = indices;
    this.workItems = workItems;
  }

  @Override
  public String getName() {
    return "vamana_probe";
  }

  @Override
  public List<Route> routes() {
    return List.of(new Route(RestRequest.Method.GET, "/_probe/{index}"));
  }

  @Override
  protected RestChannelConsumer prepareRequest(RestRequest request, NodeClient client) {
    String index = request.param("index");
    return channel -> {
      XContentBuilder json = channel.newBuilder().startObject();
      json.field("work_items", workItems.getAsLong()).startArray("fields");
      for (IndexService service : indices.get()) {
        if (service.index().getName().equals(index)) {
          for (IndexShard shard : service) {
            try (Engine.Searcher searcher = shard.acquireSearcher("probe")) {
              for (LeafReaderContext leaf : searcher.getIndexReader().leaves()) {
                addFields(json, Lucene.segmentReader(leaf.reader()));
              }
            }
          }
        }
      }
      channel.sendResponse(new RestResponse(RestStatus.OK, json.endArray().endObject()));
    };
  }

  private static void addFields(XContentBuilder json, SegmentReader segment) throws IOException {
    var readers = (PerFieldKnnVectorsFormat.FieldsReader) segment.getVectorReader();
    for (FieldInfo field : segment.getFieldInfos()) {
      KnnVectorsReader reader = readers == null ? null : readers.getFieldReader(field.name);
      if (field.hasVectorValues() && reader instanceof SegmentViews views) {
        SegmentView view = views.view(field.name);
        json.startObject();
        json.field("segment", segment.getSegmentName());
        json.field("field", field.name);
        json.field("compound", segment.getSegmentInfo().info.getUseCompoundFile());
        json.field("size", view.size());
        addRegion(json, "graph", view.graphRegion());
        addRegion(json, "codes", view.codesRegion());
        addRegion(json, "vectors", view.vectorsRegion());
        json.endObject();
      }
    }
  }

  /** Says how long a region is, and whether it is mapped and holds what reads of the file give. */
  private static void addRegion(XContentBuilder json, String name, FileRegion region)
      throws IOException {
    if (region == null) {
      return;
    }
    json.field(name + "_bytes", region.length());
    MemorySegment mapped = region.segment();
    json.field(name + "_mapped", mapped != null && holdsTheFile(mapped, region));
  }

  private static boolean holdsTheFile(MemorySegment mapped, FileRegion region) throws IOException {
    if (mapped.byteSize() != region.length() || !mapped.isNative()) {
      return false;
    }
    IndexInput file = region.open();
    for (long i = 0; i < region.length(); i++) {
      if (mapped.get(ValueLayout.JAVA_BYTE, i) != file.readByte()) {
        return false;
      }
    }
    return true;
  }
}
