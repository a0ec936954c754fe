package dev.vamana.ivf;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
import org.apache.lucene.store.IndexInput;

/** Makes entries of lists: copies them from a source, or encodes vectors. For one thread. */
final class EntryMaker {

  /** Makes what one thread needs. */
  @FunctionalInterface
  interface Source {
    /** Returns a maker for the calling thread. */
    EntryMaker open() throws IOException;
  }

  private final ListVectors vectors;
  private final Centroids centroids;
  private final ListShape shape;
  private final ListAssignment lists;
  private final List<ListBuilder.Source> sources;
  private final IndexInput[] inputs;
  private final EntryEncoder encoder;
  private final RotationTogether rotation;
  private final ByteBuffer head;
  // rows of the vectors that are encoded together, and of what they are rotated to
  private final float[][] rows;
  private final float[][] rotated;
  private final int[] indices;

  /**
   * Makes a maker.
   *
   * @param vectors read by no other thread
   */
  EntryMaker(
      ListVectors vectors,
      Centroids centroids,
      ListShape shape,
      Estimates estimates,
      ListAssignment lists,
      List<ListBuilder.Source> sources) {
    this.vectors = vectors;
    this.centroids = centroids;
    this.shape = shape;
    this.lists = lists;
    this.sources = sources;
    this.inputs = new IndexInput[sources.size()];
    this.encoder =
        shape.kind().isRabitq()
            ? new CodeEncoder(shape, estimates.products())
            : new ResidualEncoder(shape, centroids.quantizer().codebook(), estimates.products());
    this.rotation = centroids.rotation().together();
    this.head = ByteBuffer.allocate(shape.headBytes()).order(ByteOrder.LITTLE_ENDIAN);
    this.rows = new float[rotation.most()][shape.dimension()];
    this.rotated = new float[rotation.most()][shape.padded()];
    this.indices = new int[rotation.most()];
  }

  /** Makes the entries of a piece. */
  void make(EntryRun run, int piece) throws IOException {
    int list = run.list(piece);
    int count = 0;
    for (int index = run.from(piece); index < run.to(piece); index++) {
      if (index >= lists.count(list)) {
        unused(run, piece, index);
        continue;
      }
      int ordinal = lists.member(list, index);
      int source = lists.source(ordinal);
      if (source >= 0) {
        copy(run, piece, index, source);
        continue;
      }
      vectors.read(ordinal, rows[count]);
      indices[count++] = index;
      if (count == rows.length) {
        encode(run, piece, count);
        count = 0;
      }
    }
    encode(run, piece, count);
  }

  private void encode(EntryRun run, int piece, int count) {
    int list = run.list(piece);
    float[] centroid = centroids.rotated()[list];
    rotation.apply(rows, count, rotated);
    for (int i = 0; i < count; i++) {
      float[] residual = rotated[i];
      for (int d = 0; d < residual.length; d++) {
        residual[d] -= centroid[d];
      }
      int ordinal = lists.member(list, indices[i]);
      int tail = run.tail(piece, indices[i]);
      encoder.encode(
          ordinal, residual, centroid, head, run.hasHeads() ? 0 : -1, run.buffer(), tail);
      if (run.hasHeads()) {
        run.putHead(piece, indices[i], head);
      }
    }
  }

  private void unused(EntryRun run, int piece, int index) {
    if (run.hasHeads()) {
      Arrays.fill(head.array(), (byte) 0);
      // no vector's ordinal
      head.putInt(0, -1);
      run.putHead(piece, index, head);
    }
    int tail = run.tail(piece, index);
    if (tail >= 0) {
      Arrays.fill(run.buffer().array(), tail, tail + shape.tailBytes(), (byte) 0);
    }
  }

  private void copy(EntryRun run, int piece, int index, int source) throws IOException {
    int list = run.list(piece);
    int ordinal = lists.member(list, index);
    InvertedLists from = sources.get(source).lists();
    if (inputs[source] == null) {
      inputs[source] = from.region().open();
    }
    IndexInput input = inputs[source];
    InvertedLists.Table table = from.table();
    int old = Math.toIntExact(lists.place(ordinal) - table.starts()[list]);
    int places = Math.toIntExact(table.starts()[list + 1] - table.starts()[list]);
    long start = from.offset(table, list);
    if (run.hasHeads()) {
      for (int number = 0; number < ListShape.NUMBERS; number++) {
        input.seek(start + shape.numberOffset(places, old, number));
        head.putInt(number * Integer.BYTES, input.readInt());
      }
      for (int word = 0; word < shape.words(); word++) {
        input.seek(start + shape.wordOffset(places, old, word));
        head.putLong(ListShape.NUMBERS * Integer.BYTES + word * Long.BYTES, input.readLong());
      }
      head.putInt(0, ordinal);
      run.putHead(piece, index, head);
    }
    int tail = run.tail(piece, index);
    if (tail >= 0) {
      input.seek(start + (long) places * shape.headBytes() + (long) old * shape.tailBytes());
      input.readBytes(run.buffer().array(), tail, shape.tailBytes());
    }
  }
}
