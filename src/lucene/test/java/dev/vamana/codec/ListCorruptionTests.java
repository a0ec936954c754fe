package dev.vamana.codec;

import dev.vamana.ivf.CodeKind;

/** Damaged files of segments with inverted lists. */
public class ListCorruptionTests extends CorruptionTests {

  @Override
  VamanaParameters parameters() {
    return Segments.SMALL.withType(IndexType.IVF, CodeKind.RABITQ2);
  }

  @Override
  String complaint() {
    return "list";
  }
}
