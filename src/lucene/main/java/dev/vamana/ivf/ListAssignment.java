package dev.vamana.ivf;

import dev.vamana.pq.PqEngine;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.CorruptIndexException;

/**
 * Which list each vector belongs to, and where its code can be copied from. Takes 6 bytes of heap
 * for each vector, and 8 more if codes are copied.
 */
final class ListAssignment {

  private static final int UNKNOWN = -1;

  // vectors that are assigned in one go: they take 12 bytes each. A device idles at the end of each
  // go, which with 131,072 vectors and thousands of lists is a good part of it
  private static final int TOGETHER = 1 << 20;

  // unsigned: there are at most 65,536 lists
  private final short[] lists;
  private final int[] counts;
  private final double[] squares;
  // the source of each ordinal's code and its place there; null without sources
  private final int[] sources;
  private final int[] places;
  private int copied;
  // ordinals by list
  private int[] members;
  private int[] starts;

  private ListAssignment(int size, int lists, boolean withSources) {
    this.lists = new short[size];
    this.counts = new int[lists];
    this.squares = new double[lists];
    this.sources = withSources ? new int[size] : null;
    this.places = withSources ? new int[size] : null;
    if (withSources) {
      Arrays.fill(sources, UNKNOWN);
    }
  }

  /**
   * Assigns all vectors: keeps the lists of the sources' vectors, and takes the nearest centroid of
   * the others.
   *
   * @param sources lists with the same centroids and kind of codes
   * @param engine finds the nearest centroids, or declines
   */
  static ListAssignment of(
      ListVectors vectors,
      Centroids centroids,
      List<ListBuilder.Source> sources,
      PqEngine engine,
      Workers workers,
      AbortCheck abort)
      throws IOException {
    ListAssignment assignment =
        new ListAssignment(vectors.size(), centroids.plain().length, sources.isEmpty() == false);
    for (int i = 0; i < sources.size(); i++) {
      abort.check();
      assignment.take(i, sources.get(i));
    }
    int together = Math.min(vectors.size(), TOGETHER);
    int[] ordinals = new int[together];
    int[] found = new int[together];
    float[] distances = new float[together];
    int unknown = vectors.size() - assignment.copied;
    if (unknown > 0) {
      try (Assigner assigner = new Assigner(centroids.plain(), unknown, engine, workers, abort)) {
        for (int next = 0; next < vectors.size(); ) {
          int count = 0;
          for (; next < vectors.size() && count < together; next++) {
            if (assignment.source(next) == UNKNOWN) {
              ordinals[count++] = next;
            }
          }
          assigner.assign(vectors.rows(ordinals), count, found, distances);
          for (int i = 0; i < count; i++) {
            assignment.lists[ordinals[i]] = (short) found[i];
            assignment.counts[found[i]]++;
            assignment.squares[found[i]] += distances[i];
          }
        }
      }
    }
    assignment.sort();
    return assignment;
  }

  private void take(int index, ListBuilder.Source source) throws IOException {
    InvertedLists from = source.lists();
    ListShape shape = from.shape();
    InvertedLists.Table table = from.table();
    InvertedLists.Reader reader = from.reader();
    HeadBlock heads = new HeadBlock(shape);
    for (int list = 0; list < shape.lists(); list++) {
      int count = table.counts()[list];
      int room = ListShape.places(count);
      long start = from.offset(table, list);
      for (int first = 0; first < count; first += ListShape.BLOCK) {
        int entries = Math.min(heads.read(reader, start, room, first), count - first);
        for (int i = 0; i < entries; i++) {
          int ordinal = newOrdinal(source, list, heads.ordinal(i));
          if (ordinal >= 0) {
            lists[ordinal] = (short) list;
            sources[ordinal] = index;
            places[ordinal] = Math.toIntExact(table.starts()[list] + first + i);
            counts[list]++;
            copied++;
            squares[list] += square(from, table.radii()[list], heads, i);
          }
        }
      }
    }
  }

  /** Returns the new ordinal of an entry, or a negative number if its vector is left out. */
  private int newOrdinal(ListBuilder.Source source, int list, int old) throws IOException {
    int[] ordinals = source.newOrdinals();
    // a vector that is in two places would be counted twice
    if (old < 0
        || old >= ordinals.length
        || (ordinals[old] >= 0 && sources[ordinals[old]] != UNKNOWN)) {
      throw new CorruptIndexException(
          "list " + list + " has ordinal " + old, source.lists().region().toString());
    }
    return ordinals[old];
  }

  /** Returns the squared length of the residual of an entry, as far as it is known. */
  private static double square(InvertedLists from, float radius, HeadBlock heads, int entry) {
    if (from.shape().kind().isRabitq() == false) {
      // the lengths of residuals are not in the entries
      return (double) radius * radius;
    }
    // the factors hold the squared length: |o|^2 = f^2 |v|^2 - e^2 (D - 1)
    double times = from.estimates().products() ? 1 : 2;
    double factor = heads.factor(entry) / times;
    double error = heads.error(entry) / times;
    double padded = from.shape().padded();
    return Math.max(0, factor * factor * padded / 4 - error * error * (padded - 1));
  }

  private void sort() {
    starts = new int[counts.length + 1];
    for (int list = 0; list < counts.length; list++) {
      starts[list + 1] = starts[list] + counts[list];
    }
    members = new int[lists.length];
    int[] next = Arrays.copyOf(starts, counts.length);
    for (int ordinal = 0; ordinal < lists.length; ordinal++) {
      members[next[list(ordinal)]++] = ordinal;
    }
  }

  /** Number of codes that can be copied. */
  int copied() {
    return copied;
  }

  int list(int ordinal) {
    return Short.toUnsignedInt(lists[ordinal]);
  }

  int count(int list) {
    return counts[list];
  }

  /** The ordinal of a list's member; members are in ascending order. */
  int member(int list, int index) {
    return members[starts[list] + index];
  }

  /** Root of the mean squared distance of a list's vectors to its centroid. */
  float radius(int list) {
    return counts[list] == 0 ? 0 : (float) Math.sqrt(squares[list] / counts[list]);
  }

  /** Mean squared distance of all vectors to the centroid of their list. */
  double meanSquare() {
    double sum = 0;
    for (double square : squares) {
      sum += square;
    }
    return sum / lists.length;
  }

  /** The source that has the code of an ordinal, or -1. */
  int source(int ordinal) {
    return sources == null ? UNKNOWN : sources[ordinal];
  }

  /** The place of an ordinal in its source. */
  int place(int ordinal) {
    return places[ordinal];
  }

  /** Places of all lists. */
  long places() {
    long all = 0;
    for (int count : counts) {
      all += ListShape.places(count);
    }
    return all;
  }
}
