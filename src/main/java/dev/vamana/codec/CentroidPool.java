package dev.vamana.codec;

import dev.vamana.ivf.Centroids;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Keeps centroids that a format has written lists with, so that the next segments of a field take
 * them over and merges copy codes. Of each field it keeps the newest centroids of each size: small
 * segments cannot use as many lists as large ones. Thread-safe.
 *
 * <p>The centroids are on the heap. If they take too much of it, the least recently used go.
 */
final class CentroidPool {

  /** Most bytes of all centroids of a format, unless told otherwise. */
  static final long MAX_BYTES = 16L << 20;

  private final long maxBytes;
  // least recently used first
  private final Map<Slot, Known> known = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  CentroidPool() {
    this(MAX_BYTES);
  }

  /** Makes a pool with another limit. */
  CentroidPool(long maxBytes) {
    this.maxBytes = maxBytes;
  }

  /**
   * Centroids of a segment.
   *
   * @param meanSquare mean squared distance of the segment's vectors to the nearest centroid
   * @param vectors number of the segment's vectors
   */
  record Known(Centroids centroids, double meanSquare, int vectors) {
    int lists() {
      return centroids.plain().length;
    }

    /**
     * Returns the mean squared distance that other vectors of the same kind may be expected to
     * have. The mean of m vectors is nearer to these than their true centre is, by (m - 1) / m, and
     * farther from all others, by (m + 1) / m.
     */
    double expectedSquare() {
      double m = Math.max(2, (double) vectors / lists());
      return meanSquare * (m + 1) / (m - 1);
    }

    long bytes() {
      return centroids.bytes();
    }
  }

  /** Several indices may share a format, and have fields of the same name. */
  private record Field(
      String name, int dimension, VectorEncoding encoding, VectorSimilarityFunction similarity) {
    static Field of(FieldInfo info) {
      return new Field(
          info.name,
          info.getVectorDimension(),
          info.getVectorEncoding(),
          info.getVectorSimilarityFunction());
    }
  }

  /** A field and a size of its centroids: the position of the number's highest bit. */
  private record Slot(Field field, int size) {}

  /** Keeps centroids in place of older ones of about as many lists. */
  synchronized void add(FieldInfo info, Known added) {
    if (added.bytes() > maxBytes) {
      return;
    }
    int size = Integer.SIZE - Integer.numberOfLeadingZeros(added.lists());
    Known replaced = known.put(new Slot(Field.of(info), size), added);
    bytes += added.bytes() - (replaced == null ? 0 : replaced.bytes());
    Iterator<Known> eldest = known.values().iterator();
    while (bytes > maxBytes) {
      bytes -= eldest.next().bytes();
      eldest.remove();
    }
  }

  /**
   * Returns the centroids with the most lists, or null if none are between {@code least} and {@code
   * most}.
   */
  synchronized Known find(FieldInfo info, double least, double most) {
    Field field = Field.of(info);
    Slot found = null;
    int lists = 0;
    for (Map.Entry<Slot, Known> entry : known.entrySet()) {
      int own = entry.getValue().lists();
      if (entry.getKey().field().equals(field) && own >= least && own <= most && own > lists) {
        found = entry.getKey();
        lists = own;
      }
    }
    return found == null ? null : known.get(found);
  }
}
