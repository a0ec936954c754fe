package dev.vamana.search;

import java.util.function.BooleanSupplier;
import org.apache.lucene.search.KnnCollector;

/** A collector that ends a search early when a supplier returns true. */
final class CancellableCollector extends KnnCollector.Decorator {

  private final BooleanSupplier cancelled;

  CancellableCollector(KnnCollector collector, BooleanSupplier cancelled) {
    super(collector);
    this.cancelled = cancelled;
  }

  @Override
  public boolean earlyTerminated() {
    return cancelled.getAsBoolean() || super.earlyTerminated();
  }
}
