package dev.vamana.elasticsearch.index;

import dev.vamana.stock.StockSegments;
import java.io.IOException;
import org.apache.lucene.index.DirectoryReader;
import org.elasticsearch.cluster.routing.SplitShardCountSummary;
import org.elasticsearch.index.engine.EngineConfig;
import org.elasticsearch.index.engine.InternalEngine;

/** The stock engine of a shard, with readers whose stock vector fields the executor searches. */
final class AcceleratedEngine extends InternalEngine {
  private final Readers readers;

  AcceleratedEngine(EngineConfig config, Readers readers) {
    super(config);
    this.readers = readers;
  }

  @Override
  protected DirectoryReader wrapExternalDirectoryReader(
      DirectoryReader reader, SplitShardCountSummary shards) throws IOException {
    return readers.wrap(super.wrapExternalDirectoryReader(reader, shards));
  }

  /** Wraps the readers of one shard. Thread-safe. */
  static final class Readers {
    private final StockSegments segments = new StockSegments();
    private volatile AcceleratedReader last;

    /** Wraps a reader; most searches share the last one. */
    @SuppressWarnings("ReferenceEquality") // each refresh makes another reader
    DirectoryReader wrap(DirectoryReader reader) throws IOException {
      AcceleratedReader current = last;
      if (current == null || current.getDelegate() != reader) {
        current = new AcceleratedReader(reader, segments);
        last = current;
      }
      return current;
    }
  }
}
