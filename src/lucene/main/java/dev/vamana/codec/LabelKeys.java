package dev.vamana.codec;

import dev.vamana.work.AbortCheck;
import java.io.IOException;
import org.apache.lucene.codecs.DocValuesProducer;
import org.apache.lucene.index.BinaryDocValues;
import org.apache.lucene.index.DocValuesType;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.MergeState;
import org.apache.lucene.index.NumericDocValues;
import org.apache.lucene.index.SortedDocValues;
import org.apache.lucene.index.SortedNumericDocValues;
import org.apache.lucene.index.SortedSetDocValues;
import org.apache.lucene.index.TermsEnum;
import org.apache.lucene.search.DocIdSetIterator;
import org.apache.lucene.util.BytesRef;
import org.apache.lucene.util.StringHelper;

/**
 * Reads a field's doc values of any type in a merge, and makes a key of each document's values:
 * equal values have equal keys. Different values may have equal keys, too; their vectors then share
 * a graph.
 */
final class LabelKeys {

  private static final int SEED = 42;

  private final int[] keys;
  private final AbortCheck abort;

  private LabelKeys(int[] keys, AbortCheck abort) {
    this.keys = keys;
    this.abort = abort;
  }

  /**
   * Returns the key of each document of the merged segment: 0 without a value; of several values,
   * the sum of their keys.
   */
  static int[] of(MergeState merge, String field, int documents, AbortCheck abort)
      throws IOException {
    LabelKeys keys = new LabelKeys(new int[documents], abort);
    for (int i = 0; i < merge.docValuesProducers.length; i++) {
      FieldInfo info = merge.fieldInfos[i].fieldInfo(field);
      if (info != null && info.getDocValuesType() != DocValuesType.NONE) {
        // another thread may be merging the doc values
        keys.add(merge.docValuesProducers[i].getMergeInstance(), info, merge.docMaps[i]);
      }
    }
    return keys.keys;
  }

  private void add(DocValuesProducer producer, FieldInfo info, MergeState.DocMap documents)
      throws IOException {
    switch (info.getDocValuesType()) {
      case NUMERIC -> {
        NumericDocValues values = producer.getNumeric(info);
        add(values, documents, () -> key(values.longValue()));
      }
      case SORTED_NUMERIC -> {
        SortedNumericDocValues values = producer.getSortedNumeric(info);
        add(
            values,
            documents,
            () -> {
              int sum = 0;
              for (int i = values.docValueCount(); i > 0; i--) {
                sum += key(values.nextValue());
              }
              return sum;
            });
      }
      case BINARY -> {
        BinaryDocValues values = producer.getBinary(info);
        add(values, documents, () -> key(values.binaryValue()));
      }
      case SORTED -> {
        SortedDocValues values = producer.getSorted(info);
        int[] ofTerms = keys(values.termsEnum(), values.getValueCount());
        add(values, documents, () -> ofTerms[values.ordValue()]);
      }
      case SORTED_SET -> {
        SortedSetDocValues values = producer.getSortedSet(info);
        int[] ofTerms = keys(values.termsEnum(), Math.toIntExact(values.getValueCount()));
        add(
            values,
            documents,
            () -> {
              int sum = 0;
              for (int i = values.docValueCount(); i > 0; i--) {
                sum += ofTerms[(int) values.nextOrd()];
              }
              return sum;
            });
      }
      case NONE -> throw new AssertionError(info.name);
    }
  }

  /** Returns the key of the values of an iterator's current document. */
  @FunctionalInterface
  private interface Key {
    int get() throws IOException;
  }

  private void add(DocIdSetIterator values, MergeState.DocMap documents, Key key)
      throws IOException {
    int count = 0;
    while (values.nextDoc() != DocIdSetIterator.NO_MORE_DOCS) {
      if ((++count & 0xFFFF) == 0) {
        abort.check();
      }
      int document = documents.get(values.docID());
      if (document >= 0) {
        keys[document] = key.get();
      }
    }
  }

  private static int[] keys(TermsEnum terms, int count) throws IOException {
    int[] ofTerms = new int[count];
    for (int i = 0; i < count; i++) {
      ofTerms[i] = key(terms.next());
    }
    return ofTerms;
  }

  private static int key(BytesRef value) {
    return StringHelper.murmurhash3_x86_32(value, SEED);
  }

  private static int key(long value) {
    // the complement, since 0 is the key of documents without a value
    return (int) (((~value ^ (~value >>> 32)) * 0x9E3779B97F4A7C15L) >>> 32);
  }
}
