package dev.vamana.tools.gpu;

import java.util.Objects;
import org.apache.lucene.index.LeafReaderContext;
import org.apache.lucene.search.ConstantScoreScorer;
import org.apache.lucene.search.ConstantScoreWeight;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.Query;
import org.apache.lucene.search.QueryVisitor;
import org.apache.lucene.search.ScoreMode;
import org.apache.lucene.search.ScorerSupplier;
import org.apache.lucene.search.Weight;
import org.apache.lucene.util.BitSetIterator;
import org.apache.lucene.util.FixedBitSet;

/** Accepts given documents of an index of one segment. */
final class AcceptQuery extends Query {

  private final FixedBitSet accepted;
  private final int count;

  /** Accepts these documents, all of one segment. */
  AcceptQuery(FixedBitSet accepted) {
    this.accepted = accepted;
    this.count = accepted.cardinality();
  }

  @Override
  public Weight createWeight(IndexSearcher searcher, ScoreMode mode, float boost) {
    return new ConstantScoreWeight(this, boost) {
      @Override
      public ScorerSupplier scorerSupplier(LeafReaderContext context) {
        return new DefaultScorerSupplier(
            new ConstantScoreScorer(score(), mode, new BitSetIterator(accepted, count)));
      }

      @Override
      public boolean isCacheable(LeafReaderContext context) {
        return false;
      }
    };
  }

  @Override
  public String toString(String field) {
    return "accepts " + count;
  }

  @Override
  public void visit(QueryVisitor visitor) {
    visitor.visitLeaf(this);
  }

  @Override
  public boolean equals(Object other) {
    return sameClassAs(other) && accepted == ((AcceptQuery) other).accepted;
  }

  @Override
  public int hashCode() {
    return Objects.hash(classHash(), System.identityHashCode(accepted));
  }
}
