package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.codebook.sample.SampleOptions;
import dev.vamana.elasticsearch.codebook.store.CodebookEntry;
import dev.vamana.elasticsearch.codebook.store.CodebookUsers;
import java.util.function.BooleanSupplier;
import org.elasticsearch.action.ActionListener;
import org.elasticsearch.client.internal.Client;
import org.elasticsearch.index.query.QueryBuilder;

/** Trains codebooks from the fields of indices, on request. */
public final class IndexTrainings {
  private final Trainer trainer;
  private final CodebookUsers users;
  private final Client client;

  /**
   * Makes an instance that trains on this node.
   *
   * @param users the indices that name codebooks
   */
  public IndexTrainings(Trainer trainer, CodebookUsers users, Client client) {
    this.trainer = trainer;
    this.users = users;
    this.client = client;
  }

  /**
   * The vectors to train on.
   *
   * @param index names, aliases and patterns, separated by commas
   * @param field a field of type {@code dense_vector} with floats
   * @param query query for the documents, or null for all
   * @param sampleSize most vectors to train on
   * @param subspaces length of a code in bytes, 0 to derive it from the dimension
   */
  public record Source(
      String index, String field, QueryBuilder query, int sampleSize, int subspaces) {}

  /**
   * Trains a codebook with the privileges of the current thread's user.
   *
   * @param keepFailure whether to store the reason of a failure with the codebook
   * @param cancelled whether to end the training; a cancelled training stores no codebook
   * @param claimed notified when the training has started, or of the reason why it cannot start
   * @param done notified of the end of a training that has started
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
              users.requireFit(name, space, "train it under another name");
              TrainingPlan plan =
                  new TrainingPlan(
                      name,
                      space,
                      source.subspaces(),
                      source.sampleSize(),
                      from(source),
                      false,
                      keepFailure,
                      cancelled);
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
