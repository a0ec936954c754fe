package dev.vamana.ivf;

import dev.vamana.pq.DistanceTable;
import java.io.IOException;
import java.util.Arrays;
import org.apache.lucene.codecs.hnsw.FlatVectorScorerUtil;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.LongHeap;
import org.apache.lucene.util.NumericUtils;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * One query over the lists of one field: gives the lists from near to far, and estimates the
 * distances of their vectors. For one thread.
 */
public final class ListQuery {

  /**
   * Standard deviations by which an error is taken to make an estimate too large. RaBitQ (section
   * 5) uses 1.9 (docs/internals/ivf.md).
   */
  static final float MARGIN = 1.9f;

  /** Standard deviations by which a list's vectors are taken to be nearer than its centroid. */
  static final float REACH = 2f;

  // what the rounding of a query adds, relative to the error of a code of one bit
  private static final float ROUNDING = 1.25f / 0.75f;

  private static final int FIRST_PLANES = 4;
  private static final int MORE_PLANES = 8;

  // vectors that are estimated in one go
  private static final int PIECE = 16 * ListShape.BLOCK;

  private final InvertedLists lists;
  private final ListShape shape;
  private final InvertedLists.Table table;
  private final InvertedLists.Reader reader;
  private final Estimates estimates;
  private final FloatVectorValues centroids;
  private final float[] rotated;
  private final float[] residual;
  private final float[] squares;
  private final float norm;
  private final LongHeap near;
  // null with other codes than RaBitQ's
  private final QueryBits firstBits;
  // negated inner products with the centroids of the codebook; null with RaBitQ codes
  private final float[] products;
  private final QueryBits moreBits;
  private final HeadBlock heads;
  private final long[] head;
  private final long[] tail;

  // state of the opened list
  private int list;
  private float base;
  private float firstMargin;
  private float moreMargin;
  private boolean moreKnown;
  // entries of it that were estimated, and the last ordinal that was looked at
  private int estimated;
  private int last;

  /**
   * Makes a query.
   *
   * @param query components as floats; not changed
   */
  public ListQuery(InvertedLists lists, float[] query) throws IOException {
    try {
      this.lists = lists;
      this.shape = lists.shape();
      this.table = lists.table();
      this.reader = lists.reader();
      this.estimates = lists.estimates();
      this.centroids = lists.centroids();
      this.rotated = new float[shape.padded()];
      this.residual = new float[shape.padded()];
      boolean rabitq = shape.kind().isRabitq();
      this.firstBits = rabitq ? new QueryBits(shape.padded(), FIRST_PLANES) : null;
      this.heads = new HeadBlock(shape);
      this.head = new long[shape.words()];
      this.tail = new long[shape.tailBytes() / Long.BYTES];
      this.moreBits = shape.tailBytes() > 0 ? new QueryBits(shape.padded(), MORE_PLANES) : null;
      lists.rotation().apply(estimates.normalized(query), rotated);
      this.products = rabitq ? null : products();
      this.norm = square(rotated);
      this.squares = squaredDistances();
      this.near = new LongHeap(shape.lists());
      for (int i = 0; i < squares.length; i++) {
        if (table.counts()[i] > 0) {
          near.push((long) NumericUtils.floatToSortableInt(optimistic(i)) << 32 | i);
        }
      }
    } catch (IllegalStateException e) {
      throw InvertedLists.closed(e);
    }
  }

  /** Makes the table of the query. It serves all lists: entries have what depends on these. */
  private float[] products() throws IOException {
    return new DistanceTable(
            lists.quantizer().codebook(),
            DistanceTable.Metric.NEGATED_INNER_PRODUCT,
            Arrays.copyOf(rotated, shape.dimension()))
        .entries();
  }

  private static float square(float[] vector) {
    float sum = 0;
    for (float component : vector) {
      sum += component * component;
    }
    return sum;
  }

  private float[] squaredDistances() throws IOException {
    int count = shape.lists();
    float[] distances = new float[count];
    if (lists.region().segment() == null) {
      // Lucene's scorers of vectors on the heap assert that these are finite
      for (int i = 0; i < count; i++) {
        distances[i] = squaredDistance(centroids.vectorValue(i));
      }
      return distances;
    }
    RandomVectorScorer scorer =
        FlatVectorScorerUtil.getLucene99FlatVectorsScorer()
            .getRandomVectorScorer(VectorSimilarityFunction.EUCLIDEAN, centroids, rotated);
    int[] all = new int[count];
    for (int i = 0; i < count; i++) {
      all[i] = i;
    }
    scorer.bulkScore(all, distances, count);
    for (int i = 0; i < count; i++) {
      distances[i] = Math.max(0, 1 / distances[i] - 1);
    }
    return distances;
  }

  private float squaredDistance(float[] centroid) {
    float sum = 0;
    for (int d = 0; d < centroid.length; d++) {
      float difference = rotated[d] - centroid[d];
      sum += difference * difference;
    }
    return sum;
  }

  /** Returns the distance of the query to a centroid. */
  private float base(int of) {
    return estimates.products() ? -(table.norms()[of] + norm - squares[of]) / 2 : squares[of];
  }

  /** Returns a distance that few vectors of a list are nearer than. */
  private float optimistic(int of) {
    float radius = table.radii()[of];
    float reach = REACH * lists.facts().spread() * radius;
    if (estimates == Estimates.MAXIMUM_PRODUCT || estimates == Estimates.BYTE_PRODUCT) {
      return base(of) - reach * (float) Math.sqrt(norm);
    }
    float square = squares[of] + radius * radius - 2 * reach * (float) Math.sqrt(squares[of]);
    return estimates == Estimates.UNIT_PRODUCT ? (square - norm - 1) / 2 : square;
  }

  /** Whether a list is left. */
  public boolean hasNext() {
    return near.size() > 0;
  }

  /** Returns a distance that few vectors of the lists that are left are nearer than. */
  public float nearest() {
    return NumericUtils.sortableIntToFloat((int) (near.top() >> 32));
  }

  /** Goes on to the next list, and returns its number. */
  public int next() {
    list = (int) near.pop();
    estimated = 0;
    last = -1;
    return list;
  }

  /** Returns how estimates relate to scores. */
  public Estimates estimates() {
    return estimates;
  }

  /**
   * Estimates the distances of the current list's next vectors: of all, or of the first few
   * thousand in a long list.
   *
   * @param accepted ordinals to look at, or null for all
   * @param limit a vector whose distance is very probably above it is left out
   * @param candidates receives the others
   * @return whether vectors of the list are left
   */
  public boolean scan(Bits accepted, float limit, Candidates candidates) throws IOException {
    try {
      if (estimated == 0) {
        open();
      }
      return scanOpen(accepted, limit, candidates);
    } catch (IllegalStateException e) {
      throw InvertedLists.closed(e);
    }
  }

  private void open() throws IOException {
    if (products != null) {
      base = base(list);
      firstMargin = lists.facts().errorQuantile() * (float) Math.sqrt(squares[list]);
      return;
    }
    float[] centroid = centroids.vectorValue(list);
    for (int d = 0; d < residual.length; d++) {
      residual[d] = rotated[d] - centroid[d];
    }
    base = base(list);
    firstBits.set(residual);
    firstMargin = MARGIN * error(firstBits, (float) Math.sqrt(squares[list]));
    moreKnown = false;
  }

  /**
   * Returns the length of the residual, enlarged by what rounding to whole numbers adds to the
   * error of one-bit codes. A number is wrong by step / sqrt(12).
   */
  private float error(QueryBits bits, float length) {
    if (length == 0) {
      return 0;
    }
    float rounding = bits.step() * (float) Math.sqrt(shape.padded() / 12.0) * ROUNDING / length;
    return length * (float) Math.sqrt(1 + rounding * rounding);
  }

  private boolean scanOpen(Bits accepted, float limit, Candidates candidates) throws IOException {
    int count = table.counts()[list];
    int places = ListShape.places(count);
    long start = lists.offset(table, list);
    // each piece lowers the limit of the next, so the first one is small
    int piece = Math.max(ListShape.BLOCK, Math.min(PIECE, estimated));
    int end = (int) Math.min(count, (long) estimated + piece);
    for (int from = estimated; from < end; from += ListShape.BLOCK) {
      int entries = Math.min(heads.read(reader, start, places, from), count - from);
      if (products != null) {
        heads.estimate(products, base, firstMargin);
      } else {
        heads.estimate(firstBits, base, firstMargin);
      }
      for (int i = 0; i < entries; i++) {
        if (heads.bound(i) > limit) {
          continue;
        }
        int ordinal = heads.ordinal(i);
        check(ordinal);
        last = ordinal;
        if (accepted != null && accepted.get(ordinal) == false) {
          continue;
        }
        heads.bits(i, head);
        if (moreBits != null) {
          refine(ordinal, start + (long) places * shape.headBytes(), from + i, limit, candidates);
        } else {
          candidates.add(ordinal, heads.estimate(i), heads.bound(i), head);
        }
      }
    }
    estimated = end;
    return end < count;
  }

  /**
   * Checks an ordinal as read from the file. An ordinal that is in its own list, behind lower ones,
   * is found once, however damaged the lists are.
   */
  private void check(int ordinal) throws IOException {
    if (ordinal < 0
        || ordinal >= shape.size()
        || ordinal <= last
        || reader.number(ordinal) != list) {
      throw new CorruptIndexException(
          "list " + list + " has ordinal " + ordinal + " of " + shape.size(),
          lists.region().toString());
    }
  }

  private void refine(int ordinal, long tails, int index, float limit, Candidates candidates)
      throws IOException {
    if (moreKnown == false) {
      moreBits.set(residual);
      moreMargin = MARGIN * (float) Math.sqrt(squares[list]);
      moreKnown = true;
    }
    int words = shape.words();
    int bits = shape.kind().bits();
    int longs = shape.tailBytes() / Long.BYTES;
    reader.read(tails + (long) index * shape.tailBytes(), tail, longs);
    long numbers = -((long) (moreBits.sum() - moreBits.product(head, 0, words)) << (bits - 1));
    for (int plane = 0; plane < bits - 1; plane++) {
      numbers += (long) moreBits.product(tail, 2 + plane * words, words) << plane;
    }
    float product = moreBits.step() * (numbers + moreBits.sum() * 0.5f);
    float constant = Float.intBitsToFloat((int) (tail[0] >>> 32));
    float factor = Float.intBitsToFloat((int) tail[1]);
    float estimate = base + constant + factor * product;
    // rounding of the query: each number is wrong by step / sqrt(12)
    float rounding =
        factor * moreBits.step() * (float) Math.sqrt(shape.padded() / 144.0) * (1 << bits);
    float error = Float.intBitsToFloat((int) (tail[1] >>> 32)) * moreMargin;
    float bound =
        estimate
            - (float) Math.sqrt(error * error + MARGIN * MARGIN * rounding * rounding)
            - HeadBlock.SLACK * (Math.abs(base) + Math.abs(constant));
    if (bound <= limit) {
      candidates.add(ordinal, estimate, bound, head);
    }
  }
}
