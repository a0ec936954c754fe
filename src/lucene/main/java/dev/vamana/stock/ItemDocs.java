package dev.vamana.stock;

import dev.vamana.search.WorkItem;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.search.FilteredDocIdSetIterator;
import org.apache.lucene.util.Bits;

/** An item's accepted ordinals as documents, which Lucene's formats want. For one thread. */
final class ItemDocs extends AcceptDocs {

  private final Bits ordinals;
  private final int accepted;
  private final KnnVectorValues values;
  private final boolean dense;

  /**
   * Makes the documents of an item.
   *
   * @param dense whether ordinals are the numbers of documents
   */
  ItemDocs(WorkItem item, KnnVectorValues values, boolean dense) {
    this.ordinals = item.acceptedOrdinals();
    this.accepted = item.acceptedCount();
    this.values = values;
    this.dense = dense;
  }

  /** Returns the ordinal of a document, or -1 if it has no vector. */
  int ordinal(int document) {
    if (dense) {
      return document;
    }
    int from = 0;
    int to = values.size() - 1;
    while (from <= to) {
      int middle = (from + to) >>> 1;
      int found = values.ordToDoc(middle);
      if (found == document) {
        return middle;
      }
      if (found < document) {
        from = middle + 1;
      } else {
        to = middle - 1;
      }
    }
    return -1;
  }

  @Override
  public Bits bits() {
    if (ordinals == null || dense) {
      return ordinals;
    }
    int last = values.ordToDoc(values.size() - 1);
    return new Bits() {
      @Override
      public boolean get(int document) {
        int ordinal = ordinal(document);
        return ordinal >= 0 && ordinals.get(ordinal);
      }

      @Override
      public int length() {
        return last + 1;
      }
    };
  }

  @Override
  public DocIdSetIterator iterator() {
    KnnVectorValues.DocIndexIterator all = values.iterator();
    return ordinals == null
        ? all
        : new FilteredDocIdSetIterator(all) {
          @Override
          protected boolean match(int document) {
            return ordinals.get(all.index());
          }
        };
  }

  @Override
  public int cost() {
    return accepted;
  }
}
