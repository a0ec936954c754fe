package dev.vamana.codec;

import java.io.IOException;
import org.apache.lucene.store.AlreadyClosedException;
import org.apache.lucene.util.Bits;
import org.apache.lucene.util.hnsw.RandomVectorScorer;

/**
 * Lucene's scorer of the raw vectors, which reads mapped memory directly: when the reader is closed
 * meanwhile, it throws what the memory throws. This one throws Lucene's exception for closed files.
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
