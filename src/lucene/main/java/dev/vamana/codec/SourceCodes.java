package dev.vamana.codec;

import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.store.IndexInput;

/**
 * Maps the ordinals of a merged segment to codes that the merge can copy from its source segments.
 */
final class SourceCodes {

  private static final int NOWHERE = -1;

  private final List<FileRegion> regions = new ArrayList<>();
  private final int codeLength;
  // for each new ordinal the index of its source, or NOWHERE, and its ordinal in that source
  private final int[] sources;
  private final int[] ordinals;
  private int count;

  private SourceCodes(int size, int codeLength) {
    this.codeLength = codeLength;
    this.sources = new int[size];
    this.ordinals = new int[size];
    Arrays.fill(sources, NOWHERE);
  }

  /** No codes to copy. */
  static SourceCodes none() {
    return new SourceCodes(0, 0);
  }

  static SourceCodes of(int size, int codeLength) {
    return new SourceCodes(size, codeLength);
  }

  /**
   * Adds the codes of one source segment.
   *
   * @param newOrdinals for each ordinal of the source its ordinal in the merged segment, or -1
   */
  void add(FileRegion codes, int[] newOrdinals) {
    int source = regions.size();
    regions.add(codes);
    for (int old = 0; old < newOrdinals.length; old++) {
      if (newOrdinals[old] >= 0) {
        sources[newOrdinals[old]] = source;
        ordinals[newOrdinals[old]] = old;
        count++;
      }
    }
  }

  /** Number of new ordinals whose code can be copied. */
  int count() {
    return count;
  }

  /** Returns a reader for the calling thread. */
  Reader open() throws IOException {
    IndexInput[] inputs = new IndexInput[regions.size()];
    for (int i = 0; i < inputs.length; i++) {
      inputs[i] = regions.get(i).open();
    }
    return (ordinal, target, at) -> {
      if (ordinal >= sources.length || sources[ordinal] == NOWHERE) {
        return false;
      }
      IndexInput input = inputs[sources[ordinal]];
      input.seek((long) ordinals[ordinal] * codeLength);
      input.readBytes(target, at, codeLength);
      return true;
    };
  }

  /** Copies codes, for one thread. */
  @FunctionalInterface
  interface Reader {
    /**
     * Copies the code of a new ordinal to {@code target[at..]}; returns false if no source has it.
     */
    boolean read(int ordinal, byte[] target, int at) throws IOException;
  }
}
