package dev.vamana.ivf;

/**
 * Sizes of the lists of one field in the file. {@code dev.vamana.codec.VamanaVectorsFormat}
 * documents the layout.
 *
 * @param size number of vectors, at least 1
 * @param dimension components of a vector, 1 to 4,096
 * @param lists number of lists, 1 to {@value #MAX_LISTS}
 * @param kind what a code holds
 */
public record ListShape(int size, int dimension, int lists, CodeKind kind) {

  /** Most lists of a field: the number of a vector's list takes two bytes. */
  public static final int MAX_LISTS = 1 << 16;

  /** Places of a list come in groups of so many, so that each list starts at 64 bytes. */
  public static final int GROUP = 8;

  /** Most heads that lie together by columns; the number that a search reads at once. */
  public static final int BLOCK = 256;

  static final int ALIGNMENT = 64;
  static final int LIST_BYTES = 16;

  /** The 4-byte numbers of a head, in their order: what {@link #numberOffset} takes. */
  static final int ORDINAL = 0;

  static final int CONSTANT = 1;
  static final int FACTOR = 2;
  static final int ERROR = 3;
  static final int NUMBERS = 4;
  private static final int FACTOR_BYTES = NUMBERS * Integer.BYTES;

  /** Checks the ranges. */
  public ListShape {
    if (size < 1 || dimension < 1 || lists < 1 || lists > MAX_LISTS || lists > size) {
      throw new IllegalArgumentException(
          "lists must be between 1 and "
              + MAX_LISTS
              + " and at most the number of vectors, got "
              + lists
              + " lists of "
              + size
              + " vectors of "
              + dimension
              + " components");
    }
  }

  /**
   * Returns the number of lists for so many vectors: {@code 1.5 sqrt(size)}, so that a query
   * compares about as many centroids as codes of one or two lists.
   */
  public static int lists(int size) {
    long lists = Math.round(1.5 * Math.sqrt(size));
    return (int) Math.max(1, Math.min(Math.min(size, MAX_LISTS), lists));
  }

  /** Returns the components of a rotated vector. */
  public int padded() {
    return Rotation.padded(dimension);
  }

  /**
   * Returns the 64-bit words of a head: they hold one bit of each component, or the bytes of a
   * product quantization code.
   */
  public int words() {
    return kind.isRabitq() ? padded() / Long.SIZE : (subspaces() + Long.BYTES - 1) / Long.BYTES;
  }

  /** Returns the bytes of a product quantization code, 0 for other codes. */
  public int subspaces() {
    return kind.isRabitq() ? 0 : ResidualQuantizer.layout(dimension).count();
  }

  /** Returns the bytes of an entry's ordinal, factors and first bits. */
  public int headBytes() {
    return FACTOR_BYTES + words() * Long.BYTES;
  }

  /**
   * Returns where a number of a head lies, in bytes from the start of the list.
   *
   * @param places places of the list
   * @param index number of the entry in the list
   * @param number {@link #ORDINAL}, {@link #CONSTANT}, {@link #FACTOR} or {@link #ERROR}
   */
  long numberOffset(int places, int index, int number) {
    int first = index / BLOCK * BLOCK;
    int together = Math.min(BLOCK, places - first);
    int inBlock = Integer.BYTES * (number * together + index - first);
    return (long) first * headBytes() + inBlock;
  }

  /**
   * Returns where a word of a head's bits lies, in bytes from the start of the list.
   *
   * @param places places of the list
   * @param index number of the entry in the list
   * @param word 0 to {@link #words()} - 1
   */
  long wordOffset(int places, int index, int word) {
    int first = index / BLOCK * BLOCK;
    int together = Math.min(BLOCK, places - first);
    int inBlock = FACTOR_BYTES * together + Long.BYTES * (word * together + index - first);
    return (long) first * headBytes() + inBlock;
  }

  /** Returns the bytes of an entry's other factors and bits, 0 for codes of one bit. */
  public int tailBytes() {
    int more = kind.isRabitq() ? kind.bits() - 1 : 0;
    return more == 0 ? 0 : FACTOR_BYTES + more * words() * Long.BYTES;
  }

  /** Returns the bytes of all entries, without the places that fill lists up. */
  public long entryBytes() {
    return (long) size * (headBytes() + tailBytes());
  }

  /** Returns the places that a list of so many vectors takes: the next multiple of 8. */
  public static int places(int count) {
    return (count + GROUP - 1) / GROUP * GROUP;
  }

  /** Returns the bytes of all centroids. */
  public long centroidBytes() {
    return (long) lists * padded() * Float.BYTES;
  }

  /** Returns where the table of lists starts. */
  public long tableOffset() {
    return align(centroidBytes());
  }

  /** Returns where the numbers of the vectors' lists start. */
  public long numbersOffset() {
    return align(tableOffset() + (long) lists * LIST_BYTES);
  }

  /** Returns where the first list starts. */
  public long listsOffset() {
    return align(numbersOffset() + (long) size * Short.BYTES);
  }

  /**
   * Returns the bytes of everything.
   *
   * @param places places of all lists
   */
  public long length(long places) {
    return quantizerOffset(places) + (kind.isRabitq() ? 0 : ResidualQuantizer.bytes(dimension));
  }

  /** Returns where codebook and rotation start, behind the lists. */
  long quantizerOffset(long places) {
    return listsOffset() + places * (headBytes() + tailBytes());
  }

  private static long align(long offset) {
    return (offset + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
  }
}
