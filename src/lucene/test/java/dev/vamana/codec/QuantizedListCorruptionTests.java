package dev.vamana.codec;

import dev.vamana.ivf.CodeKind;

/** Damaged files of segments with lists of product quantization codes. */
public class QuantizedListCorruptionTests extends CorruptionTests {

  @Override
  VamanaParameters parameters() {
    return Segments.SMALL.withType(IndexType.IVF, CodeKind.PQ);
  }

  @Override
  String complaint() {
    return "list";
  }
}
