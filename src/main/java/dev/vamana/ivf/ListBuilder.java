package dev.vamana.ivf;

import dev.vamana.pq.PqEngine;
import dev.vamana.work.AbortCheck;
import dev.vamana.work.Workers;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.VectorSimilarityFunction;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.store.IndexOutput;

/**
 * Assigns the vectors of a field to lists, encodes them and writes the lists. The result depends on
 * vectors, centroids and sources, not on the number of threads.
 */
public final class ListBuilder {

  // places that are encoded between two writes, unless one list has more
  private static final int RUN = ListShape.BLOCK << 6;

  // says that heads are not written
  private static final long NONE = Long.MIN_VALUE;

  private final ListVectors vectors;
  private Centroids centroids;
  private final ListShape shape;
  private final Estimates estimates;
  private final PqEngine engine;
  private final Workers workers;
  private final AbortCheck abort;

  /**
   * Lists that codes can be copied from.
   *
   * @param lists lists with the same centroids and kind of codes
   * @param newOrdinals for each ordinal of the lists its ordinal now, or -1 if it was deleted
   */
  public record Source(InvertedLists lists, int[] newOrdinals) {}

  /**
   * What was written.
   *
   * @param shape sizes
   * @param facts for the metadata
   * @param centroids what the lists have, with all that was trained or measured meanwhile
   * @param copied codes that were copied
   * @param meanSquare mean squared distance of the vectors to the centroid of their list
   * @param durations how long that took
   */
  public record Written(
      ListShape shape,
      InvertedLists.Facts facts,
      Centroids centroids,
      int copied,
      double meanSquare,
      Durations durations) {}

  /**
   * Nanoseconds, as elapsed time.
   *
   * @param assignment the list of each vector
   * @param quantizer training or measurement of the quantizer, and the spread
   * @param entries codes, and all that is written
   */
  public record Durations(long assignment, long quantizer, long entries) {}

  /**
   * Makes a builder.
   *
   * @param values the vectors in random access by ordinal, at least as many as centroids
   * @param kind what a code holds
   * @param engine finds the nearest centroids, or declines
   */
  public ListBuilder(
      KnnVectorValues values,
      VectorSimilarityFunction similarity,
      CodeKind kind,
      Centroids centroids,
      PqEngine engine,
      Workers workers,
      AbortCheck abort) {
    this.vectors = new ListVectors(values, similarity);
    this.centroids = centroids;
    this.shape = new ListShape(values.size(), values.dimension(), centroids.plain().length, kind);
    this.estimates = Estimates.of(values.getEncoding(), similarity, values.dimension());
    this.engine = engine;
    this.workers = workers;
    this.abort = abort;
  }

  /**
   * Writes everything.
   *
   * @param out at a multiple of 64 bytes
   * @param sources lists to copy codes from
   */
  public Written write(IndexOutput out, List<Source> sources) throws IOException {
    long begun = System.nanoTime();
    ListAssignment lists = ListAssignment.of(vectors, centroids, sources, engine, workers, abort);
    long assigned = System.nanoTime();
    boolean quantized = shape.kind().isRabitq() == false;
    if (quantized) {
      QuantizerTrainer trainer =
          new QuantizerTrainer(vectors.copy(), centroids, shape, lists, engine, workers, abort);
      ResidualQuantizer known = centroids.quantizer();
      centroids = centroids.with(known == null ? trainer.train() : trainer.measured(known));
    }
    float spread = centroids.spread();
    if (Float.isNaN(spread)) {
      boolean fromOrigin = estimates.products() && estimates != Estimates.UNIT_PRODUCT;
      spread = Spread.measure(vectors.copy(), centroids.plain(), lists, fromOrigin);
      centroids = centroids.withSpread(spread);
    }
    long trained = System.nanoTime();
    long start = out.getFilePointer();
    writeCentroids(out);
    pad(out, start + shape.tableOffset());
    for (int list = 0; list < shape.lists(); list++) {
      out.writeInt(lists.count(list));
      out.writeInt(Float.floatToIntBits(lists.radius(list)));
      out.writeInt(Float.floatToIntBits(squaredNorm(centroids.rotated()[list])));
      out.writeInt(0);
    }
    pad(out, start + shape.numbersOffset());
    writeNumbers(out, lists);
    pad(out, start + shape.listsOffset());
    new Runs(out, lists, sources).write();
    float errorQuantile = 0;
    if (quantized) {
      centroids.quantizer().write(out);
      errorQuantile = centroids.quantizer().errorQuantile();
    }
    return new Written(
        shape,
        new InvertedLists.Facts(
            centroids.id(), centroids.seed(), spread, errorQuantile, lists.places()),
        centroids,
        lists.copied(),
        lists.meanSquare(),
        new Durations(assigned - begun, trained - assigned, System.nanoTime() - trained));
  }

  private void writeCentroids(IndexOutput out) throws IOException {
    ByteBuffer row =
        ByteBuffer.allocate(shape.padded() * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    for (float[] centroid : centroids.rotated()) {
      row.asFloatBuffer().put(centroid);
      out.writeBytes(row.array(), row.capacity());
    }
  }

  /** Writes the number of each vector's list, many at once: a call for each takes seconds. */
  private void writeNumbers(IndexOutput out, ListAssignment lists) throws IOException {
    ByteBuffer numbers = ByteBuffer.allocate(RUN).order(ByteOrder.LITTLE_ENDIAN);
    for (int ordinal = 0; ordinal < shape.size(); ordinal++) {
      numbers.putShort((short) lists.list(ordinal));
      if (numbers.hasRemaining() == false || ordinal == shape.size() - 1) {
        out.writeBytes(numbers.array(), numbers.position());
        numbers.clear();
      }
    }
  }

  private static float squaredNorm(float[] vector) {
    float sum = 0;
    for (float component : vector) {
      sum += component * component;
    }
    return sum;
  }

  private static void pad(IndexOutput out, long to) throws IOException {
    while (out.getFilePointer() < to) {
      out.writeByte((byte) 0);
    }
  }

  /** Writes the lists, several small ones at a time. */
  private final class Runs {
    private final IndexOutput out;
    private final ListAssignment lists;
    private final List<Source> sources;
    private final int entryBytes = shape.headBytes() + shape.tailBytes();

    Runs(IndexOutput out, ListAssignment lists, List<Source> sources) {
      this.out = out;
      this.lists = lists;
      this.sources = sources;
    }

    void write() throws IOException {
      int from = 0;
      while (from < shape.lists()) {
        int to = from;
        int places = 0;
        while (to < shape.lists() && places + ListShape.places(lists.count(to)) <= RUN) {
          places += ListShape.places(lists.count(to));
          to++;
        }
        if (to == from) {
          writeLong(from);
          from++;
        } else {
          writeRun(from, to, places);
          from = to;
        }
      }
    }

    private void writeRun(int from, int to, int places) throws IOException {
      byte[] bytes = new byte[Math.multiplyExact(places, entryBytes)];
      int[] ofList = new int[places];
      int[] starts = new int[to - from];
      int place = 0;
      for (int list = from; list < to; list++) {
        starts[list - from] = place;
        int end = place + ListShape.places(lists.count(list));
        Arrays.fill(ofList, place, end, list);
        place = end;
      }
      workers.forEach(
          0,
          places,
          () -> {
            Entries entries = new Entries(bytes);
            return at -> {
              int list = ofList[at];
              int start = starts[list - from];
              int index = at - start;
              int heads = start * entryBytes;
              int tails = heads + ListShape.places(lists.count(list)) * shape.headBytes();
              entries.put(list, index, heads, tails + index * shape.tailBytes());
            };
          },
          abort);
      out.writeBytes(bytes, bytes.length);
    }

    /** Writes a list that is too long for the memory of a run: all heads, then all tails. */
    private void writeLong(int list) throws IOException {
      writeParts(list, shape.headBytes(), true);
      if (shape.tailBytes() > 0) {
        writeParts(list, shape.tailBytes(), false);
      }
    }

    private void writeParts(int list, int partBytes, boolean heads) throws IOException {
      int places = ListShape.places(lists.count(list));
      byte[] bytes = new byte[RUN * partBytes];
      for (int next = 0; next < places; next += RUN) {
        int start = next;
        int to = Math.min(places, next + RUN);
        workers.forEach(
            start,
            to,
            () -> {
              Entries entries = new Entries(bytes);
              return index ->
                  entries.put(
                      list,
                      index,
                      heads ? -(long) start * partBytes : NONE,
                      heads ? -1 : (index - start) * partBytes);
            },
            abort);
        out.writeBytes(bytes, (to - start) * partBytes);
      }
    }

    /** Fills in entries, for one thread. */
    private final class Entries {
      private final ByteBuffer buffer;
      private final ByteBuffer head =
          ByteBuffer.allocate(shape.headBytes()).order(ByteOrder.LITTLE_ENDIAN);
      private final ListVectors floats = vectors.copy();
      private final float[] vector = new float[shape.dimension()];
      private final float[] rotated = new float[shape.padded()];
      private final EntryEncoder encoder = encoder();
      private final IndexInput[] inputs = new IndexInput[sources.size()];

      private EntryEncoder encoder() {
        return shape.kind().isRabitq()
            ? new CodeEncoder(shape, estimates.products())
            : new ResidualEncoder(shape, centroids.quantizer().codebook(), estimates.products());
      }

      Entries(byte[] bytes) throws IOException {
        this.buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
      }

      /**
       * Fills in an entry.
       *
       * @param heads where the list starts in the buffer, or {@link #NONE}; negative if only a
       *     later part of the list is in the buffer
       * @param tail where the entry's tail starts in the buffer, or -1
       */
      void put(int list, int index, long heads, int tail) throws IOException {
        int ordinal = -1;
        if (index >= lists.count(list)) {
          unused(tail);
        } else {
          ordinal = lists.member(list, index);
          int source = lists.source(ordinal);
          if (source >= 0) {
            copy(source, list, ordinal, heads != NONE, tail);
          } else {
            encode(list, ordinal, heads != NONE, tail);
          }
        }
        if (heads != NONE) {
          head.putInt(0, ordinal);
          spread(list, index, heads);
        }
      }

      private void encode(int list, int ordinal, boolean heads, int tail) throws IOException {
        floats.read(ordinal, vector);
        centroids.rotation().apply(vector, rotated);
        float[] centroid = centroids.rotated()[list];
        for (int d = 0; d < rotated.length; d++) {
          rotated[d] -= centroid[d];
        }
        encoder.encode(ordinal, rotated, centroid, head, heads ? 0 : -1, buffer, tail);
      }

      private void unused(int tail) {
        Arrays.fill(head.array(), (byte) 0);
        if (tail >= 0) {
          Arrays.fill(buffer.array(), tail, tail + shape.tailBytes(), (byte) 0);
        }
      }

      /** Puts the parts of a head into the columns of its block. */
      private void spread(int list, int index, long heads) {
        int places = ListShape.places(lists.count(list));
        for (int number = 0; number < ListShape.NUMBERS; number++) {
          int to = (int) (heads + shape.numberOffset(places, index, number));
          buffer.putInt(to, head.getInt(number * Integer.BYTES));
        }
        for (int word = 0; word < shape.words(); word++) {
          int to = (int) (heads + shape.wordOffset(places, index, word));
          buffer.putLong(to, head.getLong(ListShape.NUMBERS * Integer.BYTES + word * Long.BYTES));
        }
      }

      private void copy(int source, int list, int ordinal, boolean heads, int tail)
          throws IOException {
        InvertedLists from = sources.get(source).lists();
        if (inputs[source] == null) {
          inputs[source] = from.region().open();
        }
        IndexInput input = inputs[source];
        InvertedLists.Table table = from.table();
        int index = Math.toIntExact(lists.place(ordinal) - table.starts()[list]);
        int places = Math.toIntExact(table.starts()[list + 1] - table.starts()[list]);
        long start = from.offset(table, list);
        if (heads) {
          for (int number = 0; number < ListShape.NUMBERS; number++) {
            input.seek(start + shape.numberOffset(places, index, number));
            head.putInt(number * Integer.BYTES, input.readInt());
          }
          for (int word = 0; word < shape.words(); word++) {
            input.seek(start + shape.wordOffset(places, index, word));
            head.putLong(ListShape.NUMBERS * Integer.BYTES + word * Long.BYTES, input.readLong());
          }
        }
        if (tail >= 0 && shape.tailBytes() > 0) {
          input.seek(start + (long) places * shape.headBytes() + (long) index * shape.tailBytes());
          input.readBytes(buffer.array(), tail, shape.tailBytes());
        }
      }
    }
  }
}
