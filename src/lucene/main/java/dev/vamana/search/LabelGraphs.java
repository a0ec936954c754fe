package dev.vamana.search;

import dev.vamana.graph.StoredAdjacency;
import dev.vamana.vectors.FileRegion;
import java.io.IOException;
import java.lang.ref.WeakReference;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.store.DataOutput;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.RandomAccessInput;
import org.apache.lucene.util.ArrayUtil;
import org.apache.lucene.util.BitSet;
import org.apache.lucene.util.BitSetIterator;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.FixedBitSet;

/**
 * Graphs over the vectors of one value of the filter field each. A vector is in one graph at most.
 *
 * <p>A filter reaches a search as a set of documents. {@link #plan} finds out in which graphs the
 * accepted vectors lie, so that only these are walked. It does so for any set of documents: one
 * value, a union, or a part of a value's documents.
 *
 * <p>Thread-safe.
 */
public final class LabelGraphs {

  /** Most neighbours of a row. */
  public static final int DEGREE = 16;

  /** Number of the graph of a vector that is in none. */
  public static final int NONE = -1;

  // a graph of this part of all vectors, or more, has a bit for each of them
  private static final int MASK_PART = 32;

  // words of bits that are looked at together
  private static final int WORDS = 64;

  // rows are short, so walks need a wider beam than over the segment's graph for the same recall
  private static final int WIDER = 30;

  // beam of the walks after the first: the collector, which has hits already, adds to it
  private static final int NEXT_BEAM = 48;

  private final int size;
  private final int[] sizes;
  private final int[] entryPoints;
  private final int smallest;
  private final float meanDegree;
  private final StoredAdjacency adjacency;
  private final FileRegion numbers;
  private final FileRegion masks;
  // for each graph the number of its mask, or -1
  private final int[] maskOf;
  private volatile Known known = new Known(new WeakReference<>(null), 0, 0, null);

  private record Known(WeakReference<Bits> docs, int beam, double most, Plan plan) {}

  /**
   * The part of a segment that a search looks at.
   *
   * @param graphs numbers of the graphs to walk
   * @param alone accepted ordinals that are in no graph
   */
  record Plan(int[] graphs, int[] alone) {}

  /**
   * Opens the graphs of a segment.
   *
   * @param file the open file
   * @param offset where the rows start
   * @param size number of vectors of the segment
   * @param edges number of edges of all graphs
   * @param sizes for each graph the number of its vectors
   * @param entryPoints for each graph the ordinal from which walks start
   */
  public LabelGraphs(
      IndexInput file, long offset, int size, long edges, int[] sizes, int[] entryPoints)
      throws IOException {
    this.size = size;
    this.sizes = sizes;
    this.entryPoints = entryPoints;
    this.maskOf = masks(size, sizes);
    long members = 0;
    int least = size;
    for (int ofGraph : sizes) {
      members += ofGraph;
      least = Math.min(least, ofGraph);
    }
    this.smallest = least;
    this.meanDegree = (float) edges / members;
    long rows = rowBytes(size);
    long ofNumbers = (long) size * Integer.BYTES;
    this.adjacency = new StoredAdjacency(FileRegion.of(file, offset, rows), size, DEGREE);
    this.numbers = FileRegion.of(file, offset + rows, ofNumbers);
    this.masks =
        FileRegion.of(file, offset + rows + ofNumbers, bytes(size, sizes) - rows - ofNumbers);
  }

  private static long rowBytes(int size) {
    return (long) size * DEGREE * Integer.BYTES;
  }

  private static int[] masks(int size, int[] sizes) {
    int[] masks = new int[sizes.length];
    int count = 0;
    for (int i = 0; i < sizes.length; i++) {
      masks[i] = sizes[i] >= size / MASK_PART ? count++ : NONE;
    }
    return masks;
  }

  /** Returns the bytes of the graphs in the file. */
  public static long bytes(int size, int[] sizes) {
    long bytes = rowBytes(size) + (long) size * Integer.BYTES;
    for (int mask : masks(size, sizes)) {
      bytes += mask == NONE ? 0 : (long) FixedBitSet.bits2words(size) * Long.BYTES;
    }
    return bytes;
  }

  /**
   * Writes what follows the rows.
   *
   * @param labels for each ordinal the number of its graph, or {@link #NONE}
   * @param sizes for each graph the number of its vectors
   */
  public static void write(DataOutput out, int[] labels, int[] sizes) throws IOException {
    for (int label : labels) {
      out.writeInt(label);
    }
    int[] masks = masks(labels.length, sizes);
    for (int graph = 0; graph < sizes.length; graph++) {
      for (int word = 0; masks[graph] != NONE && word < labels.length; word += Long.SIZE) {
        long bits = 0;
        for (int i = Math.min(labels.length, word + Long.SIZE) - 1; i >= word; i--) {
          bits = (bits << 1) | (labels[i] == graph ? 1 : 0);
        }
        out.writeLong(bits);
      }
    }
  }

  /** Returns the rows, for use by the calling thread only. */
  StoredAdjacency adjacency() throws IOException {
    return (StoredAdjacency) adjacency.copy();
  }

  /** Returns the ordinal from which walks of a graph start. */
  int entryPoint(int graph) {
    return entryPoints[graph];
  }

  /**
   * Returns the beam width of one of the walks of a search.
   *
   * @param walk its number, from 0 on
   * @param beam beam width of the search
   */
  static int beam(int walk, int beam) {
    return walk == 0 ? beam + WIDER : Math.min(beam + WIDER, NEXT_BEAM);
  }

  /**
   * Returns the graphs that have accepted vectors.
   *
   * @param docs accepted documents as passed by Lucene
   * @param beam beam width of the search
   * @param most cost of the search from which it is not worth while, in distances of a walk
   * @return null if it would cost more
   */
  Plan plan(SegmentView segment, Bits docs, int beam, double most) throws IOException {
    if (docs instanceof BitSet == false
        || SearchPlan.visits(smallest, meanDegree, beam(0, beam)) > most) {
      return null;
    }
    Known last = known;
    if (last.docs.refersTo(docs) && last.beam == beam && last.most == most) {
      return last.plan;
    }
    Finder finder = new Finder(beam, most, SearchPlan.scanCost(segment));
    boolean found =
        (segment.isDense() && docs instanceof FixedBitSet ordinals)
            ? finder.words(ordinals.getBits())
            : finder.documents(new BitSetIterator((BitSet) docs, 0), segment.vectors());
    Plan plan = found ? finder.plan() : null;
    known = new Known(new WeakReference<>(docs), beam, most, plan);
    return plan;
  }

  /** Finds the graphs of accepted vectors, until the search would cost too much. */
  private final class Finder {
    private final int beam;
    private final double most;
    private final double scanCost;
    private final IndexInput maskInput = masks.open();
    private final RandomAccessInput numberInput;
    private final int[] counts = new int[sizes.length];
    private int[] graphs = new int[4];
    private int graphCount;
    private int[] alone = new int[16];
    private int aloneCount;
    // of complete graphs, and of the vectors that are in none
    private double cost;

    Finder(int beam, double most, double scanCost) throws IOException {
      this.beam = beam;
      this.most = most;
      this.scanCost = scanCost;
      IndexInput input = numbers.open();
      this.numberInput = input.randomAccessSlice(0, input.length());
    }

    boolean documents(DocIdSetIterator accepted, KnnVectorValues vectors) throws IOException {
      KnnVectorValues.DocIndexIterator stored = vectors.iterator();
      int doc = accepted.nextDoc();
      while (doc != DocIdSetIterator.NO_MORE_DOCS) {
        if (stored.docID() < doc) {
          stored.advance(doc);
        }
        if (stored.docID() == doc) {
          add(stored.index());
        }
        if (cost > most) {
          return false;
        }
        doc = stored.docID() > doc ? accepted.advance(stored.docID()) : accepted.nextDoc();
      }
      return true;
    }

    boolean words(long[] accepted) throws IOException {
      int words = FixedBitSet.bits2words(size);
      long[] left = new long[WORDS];
      long[] mask = new long[WORDS];
      for (int from = 0; from < words; from += WORDS) {
        int count = Math.min(WORDS, words - from);
        System.arraycopy(accepted, from, left, 0, count);
        for (int i = 0; i < graphCount; i++) {
          if (maskOf[graphs[i]] != NONE) {
            take(graphs[i], from, left, mask, count);
          }
        }
        for (int word = 0; word < count; word++) {
          for (long bits = left[word]; bits != 0; bits &= bits - 1) {
            add((from + word) * Long.SIZE + Long.numberOfTrailingZeros(bits));
          }
        }
        if (cost > most) {
          return false;
        }
      }
      return true;
    }

    /** Removes the vectors of a graph that has a mask. */
    private void take(int graph, int from, long[] left, long[] mask, int count) throws IOException {
      long first = (long) maskOf[graph] * FixedBitSet.bits2words(size) + from;
      maskInput.seek(first * Long.BYTES);
      maskInput.readLongs(mask, 0, count);
      int taken = 0;
      for (int word = 0; word < count; word++) {
        taken += Long.bitCount(left[word] & mask[word]);
        left[word] &= ~mask[word];
      }
      counts[graph] += taken;
    }

    private void add(int ordinal) throws IOException {
      int graph = numberInput.readInt((long) ordinal * Integer.BYTES);
      if (graph < NONE || graph >= sizes.length) {
        throw new CorruptIndexException(
            "vector " + ordinal + " names graph " + graph + " of " + sizes.length,
            numbers.toString());
      }
      if (graph == NONE) {
        alone = ArrayUtil.grow(alone, aloneCount + 1);
        alone[aloneCount++] = ordinal;
        cost += scanCost;
      } else if (counts[graph]++ == 0) {
        cost += visits(graph, graphCount);
        graphs = ArrayUtil.grow(graphs, graphCount + 1);
        graphs[graphCount++] = graph;
      }
    }

    private double visits(int graph, int walk) {
      return SearchPlan.visits(sizes[graph], meanDegree, LabelGraphs.beam(walk, beam));
    }

    Plan plan() {
      double whole = aloneCount * scanCost;
      for (int i = 0; i < graphCount; i++) {
        // as with any filter, a walk passes through rejected vectors
        whole += visits(graphs[i], i) * sizes[graphs[i]] / counts[graphs[i]];
      }
      return whole > most
          ? null
          : new Plan(
              ArrayUtil.copyOfSubArray(graphs, 0, graphCount),
              ArrayUtil.copyOfSubArray(alone, 0, aloneCount));
    }
  }
}
