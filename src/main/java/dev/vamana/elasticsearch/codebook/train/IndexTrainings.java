package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.store.CodebookEntry;
import java.util.function.BooleanSupplier;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.index.query.QueryBuilder;

/** Trains codebooks from the fields of indices, on demand. */
public final class IndexTrainings {
  private final Trainer trainer;
  private final Client client;

  /** Trains on this node. */
  public IndexTrainings(Trainer trainer, Client client) {
    this.trainer = trainer;
    this.client = client;
  }

  /**
   * Which vectors to train on.
   *
   * @param index name, alias or pattern
   * @param field of type {@code dense_vector}, with floats
   * @param query which documents, or null for all
   * @param sampleSize most vectors to train on
   * @param subspaces bytes of a code, 0 to derive them
   */
  public record Source(
      String index, String field, QueryBuilder query, int sampleSize, int subspaces) {}

  /**
   * Trains a codebook, on behalf of whoever runs the current thread.
   *
   * @param keepFailure whether the codebook is to tell the reason of a failure
   * @param cancelled whether to stop drawing vectors
   * @param claimed hears when it has begun, or why it cannot
   * @param done hears of the end once it has begun
   */
  public void train(
      String name,
      Source source,
      boolean keepFailure,
      BooleanSupplier cancelled,
      ActionListener<Void> claimed,
      ActionListener<CodebookEntry> done) {
    IndexField.space(
        client,
        source.index(),
        source.field(),
        claimed.delegateFailureAndWrap(
            (l, space) -> {
              SampleOptions.checkSubspaces(source.subspaces(), space.dims());
              TrainingPlan plan =
                  new TrainingPlan(
                      name,
                      space,
                      source.subspaces(),
                      source.sampleSize(),
                      from(source),
                      false,
                      keepFailure);
              IndexVectors vectors =
                  new IndexVectors(
                      client, source.index(), source.field(), space, source.query(), cancelled);
              trainer.train(plan, vectors, l, done);
            }));
  }

  private static String from(Source source) {
    String from = "index [" + source.index() + "] field [" + source.field() + "]";
    return from.length() <= 1_000 ? from : from.substring(0, 1_000);
  }
}
