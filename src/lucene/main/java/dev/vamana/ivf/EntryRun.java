package dev.vamana.ivf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Entries that are made together and written at once: all entries of consecutive lists, or a part
 * of one list. Several threads fill it, each some of its pieces.
 */
final class EntryRun {

  /** Most entries of a piece. */
  static final int PIECE = 64;

  /** The parts of entries that a run holds. */
  enum Part {
    /** Heads of a list, then tails, then the next list. */
    BOTH,
    /** Only heads, from an entry of a list on. */
    HEADS,
    /** Only tails, from an entry of a list on. */
    TAILS
  }

  private final ListShape shape;
  private final ListAssignment lists;
  private final Part part;
  private final int bytes;
  // of each piece: its list, the first and the end of its entries in the list, the list's start in
  // the run
  private final int[] list;
  private final int[] from;
  private final int[] to;
  private final long[] start;
  private int pieces;
  private ByteBuffer buffer;

  private EntryRun(
      ListShape shape, ListAssignment lists, Part part, int most, long places, int placeBytes) {
    this.shape = shape;
    this.lists = lists;
    this.part = part;
    this.bytes = Math.toIntExact(places * placeBytes);
    this.list = new int[most];
    this.from = new int[most];
    this.to = new int[most];
    this.start = new long[most];
  }

  /** Returns all entries of the lists {@code from <= list < to}. */
  static EntryRun ofLists(ListShape shape, ListAssignment lists, int from, int to) {
    int entryBytes = shape.headBytes() + shape.tailBytes();
    long places = 0;
    int pieces = 0;
    for (int list = from; list < to; list++) {
      int own = ListShape.places(lists.count(list));
      places += own;
      pieces += piecesOf(own);
    }
    EntryRun run = new EntryRun(shape, lists, Part.BOTH, pieces, places, entryBytes);
    long start = 0;
    for (int list = from; list < to; list++) {
      int own = ListShape.places(lists.count(list));
      run.add(list, 0, own, start);
      start += (long) own * entryBytes;
    }
    return run;
  }

  /** Returns the heads or the tails of the places {@code from <= place < to} of a list. */
  static EntryRun ofPart(
      ListShape shape, ListAssignment lists, int list, int from, int to, Part part) {
    int partBytes = part == Part.HEADS ? shape.headBytes() : shape.tailBytes();
    EntryRun run =
        new EntryRun(shape, lists, part, piecesOf(to - from), (long) to - from, partBytes);
    run.add(list, from, to, -(long) from * partBytes);
    return run;
  }

  private static int piecesOf(int places) {
    return (places + PIECE - 1) / PIECE;
  }

  private void add(int ofList, int first, int end, long listStart) {
    for (int at = first; at < end; at += PIECE) {
      list[pieces] = ofList;
      from[pieces] = at;
      to[pieces] = Math.min(end, at + PIECE);
      start[pieces] = listStart;
      pieces++;
    }
  }

  /** Number of pieces. */
  int pieces() {
    return pieces;
  }

  /** Bytes of all entries. */
  int bytes() {
    return bytes;
  }

  /** Sets where the entries are put. */
  void into(byte[] target) {
    buffer = ByteBuffer.wrap(target).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The buffer over the array of {@link #into}, little-endian. Its position is not used. */
  ByteBuffer buffer() {
    return buffer;
  }

  /** The list of a piece. */
  int list(int piece) {
    return list[piece];
  }

  /** The first place of a piece in its list. */
  int from(int piece) {
    return from[piece];
  }

  /** The end of a piece's places in its list. */
  int to(int piece) {
    return to[piece];
  }

  /** Whether the run has heads. */
  boolean hasHeads() {
    return part != Part.TAILS;
  }

  /** Puts the parts of a head into the columns of its block. */
  void putHead(int piece, int index, ByteBuffer head) {
    int places = ListShape.places(lists.count(list[piece]));
    for (int number = 0; number < ListShape.NUMBERS; number++) {
      int at = (int) (start[piece] + shape.numberOffset(places, index, number));
      buffer.putInt(at, head.getInt(number * Integer.BYTES));
    }
    for (int word = 0; word < shape.words(); word++) {
      int at = (int) (start[piece] + shape.wordOffset(places, index, word));
      buffer.putLong(at, head.getLong(ListShape.NUMBERS * Integer.BYTES + word * Long.BYTES));
    }
  }

  /** Where the tail of an entry starts in the buffer, or -1 if the run has no tails. */
  int tail(int piece, int index) {
    if (part == Part.HEADS || shape.tailBytes() == 0) {
      return -1;
    }
    long tails = start[piece];
    if (part == Part.BOTH) {
      tails += (long) ListShape.places(lists.count(list[piece])) * shape.headBytes();
    }
    return (int) (tails + (long) index * shape.tailBytes());
  }
}
