package dev.vamana.codec;

import dev.vamana.ivf.Centroids;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.VectorEncoding;
import org.apache.lucene.index.VectorSimilarityFunction;

/**
 * Keeps centroids that formats have written lists with, so that the next segments of a field take
 * them over and merges copy codes. Of each field it keeps the newest centroids of each size: small
 * segments cannot use as many lists as large ones. Thread-safe.
 *
 * <p>The centroids are on the heap. If they take too much of it, the least recently used go.
 * Several indices may have parts of one pool, and then share its limit, but no centroids.
 */
public final class CentroidPool {

  /** Most bytes of all centroids, unless told otherwise. */
  public static final long MAX_BYTES = 16L << 20;

  private final Kept kept;
  private final String index;

  /** The centroids of all parts of a pool, and their bytes. */
  private static final class Kept {
    private final long maxBytes;
    // least recently used first
    private final Map<Slot, Known> known = new LinkedHashMap<>(16, 0.75f, true);
    private long bytes;

    Kept(long maxBytes) {
      this.maxBytes = maxBytes;
    }
  }

  /** Makes a pool of at most {@value #MAX_BYTES} bytes. */
  CentroidPool() {
    this(MAX_BYTES);
  }

  /**
   * Makes a pool.
   *
   * @param maxBytes most bytes of all centroids; 0 or more
   */
  public CentroidPool(long maxBytes) {
    this(new Kept(maxBytes), "");
  }

  private CentroidPool(Kept kept, String index) {
    this.kept = kept;
    this.index = index;
  }

  /**
   * Returns the part of an index. It has the centroids of this index only, but all parts together
   * take no more than the limit.
   *
   * @param of a name that no other index has
   */
  public CentroidPool part(String of) {
    return new CentroidPool(kept, of);
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
      String index,
      String name,
      int dimension,
      VectorEncoding encoding,
      VectorSimilarityFunction similarity) {
    static Field of(String index, FieldInfo info) {
      return new Field(
          index,
          info.name,
          info.getVectorDimension(),
          info.getVectorEncoding(),
          info.getVectorSimilarityFunction());
    }
  }

  /** A field and a size of its centroids: the position of the number's highest bit. */
  private record Slot(Field field, int size) {}

  /** Keeps centroids in place of older ones of about as many lists. */
  void add(FieldInfo info, Known added) {
    if (added.bytes() > kept.maxBytes) {
      return;
    }
    int size = Integer.SIZE - Integer.numberOfLeadingZeros(added.lists());
    synchronized (kept) {
      Known replaced = kept.known.put(new Slot(Field.of(index, info), size), added);
      kept.bytes += added.bytes() - (replaced == null ? 0 : replaced.bytes());
      Iterator<Known> eldest = kept.known.values().iterator();
      while (kept.bytes > kept.maxBytes) {
        kept.bytes -= eldest.next().bytes();
        eldest.remove();
      }
    }
  }

  /**
   * Returns the centroids with the most lists, or null if none are between {@code least} and {@code
   * most}.
   */
  Known find(FieldInfo info, double least, double most) {
    Field field = Field.of(index, info);
    synchronized (kept) {
      Slot found = null;
      int lists = 0;
      for (Map.Entry<Slot, Known> entry : kept.known.entrySet()) {
        int own = entry.getValue().lists();
        if (entry.getKey().field().equals(field) && own >= least && own <= most && own > lists) {
          found = entry.getKey();
          lists = own;
        }
      }
      return found == null ? null : kept.known.get(found);
    }
  }
}
