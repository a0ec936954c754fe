package dev.vamana.codec;

import java.io.IOException;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * Wraps Lucene's scorer of the raw vectors for readers that may be closed during a search. Lucene's
 * scorer reads mapped memory directly and throws an IllegalStateException when the mapping is gone;
 * this class turns it into an AlreadyClosedException.
 */
final class GuardedScorer implements RandomVectorScorer {

  private final RandomVectorScorer in;

  GuardedScorer(RandomVectorScorer in) {
    this.in = in;
  }

  @Override
  public float score(int ordinal) throws IOException {
    try {
      return in.score(ordinal);
    } catch (IllegalStateException e) {
      throw closed(e);
    }
  }

  @Override
  public float bulkScore(int[] ordinals, float[] scores, int count) throws IOException {
    try {
      return in.bulkScore(ordinals, scores, count);
    } catch (IllegalStateException e) {
      throw closed(e);
    }
  }

  private static AlreadyClosedException closed(IllegalStateException e) {
    return e instanceof AlreadyClosedException known
        ? known
        : new AlreadyClosedException("the raw vectors were closed", e);
  }

  @Override
  public int maxOrd() {
    return in.maxOrd();
  }

  @Override
  public int ordToDoc(int ordinal) {
    return in.ordToDoc(ordinal);
  }

  @Override
  public Bits getAcceptOrds(Bits acceptDocs) {
    return in.getAcceptOrds(acceptDocs);
  }
}
