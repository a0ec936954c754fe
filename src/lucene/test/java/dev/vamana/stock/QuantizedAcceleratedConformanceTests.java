package dev.vamana.stock;

import org.apache.lucene.index.VectorEncoding;

/** Lucene's conformance test for accelerated searches of its quantized HNSW format. */
public class QuantizedAcceleratedConformanceTests extends AcceleratedConformanceTests {

  @Override
  protected AcceleratedFormat format() {
    return new AcceleratedFormat.Quantized();
  }

  @Override
  protected VectorEncoding randomVectorEncoding() {
    // the format stores no bytes
    return VectorEncoding.FLOAT32;
  }
}
