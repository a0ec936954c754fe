package dev.vamana.elasticsearch.codebook.store;

import dev.vamana.elasticsearch.codebook.sample.VectorSpace;
import java.util.List;
import org.elasticsearch.ElasticsearchStatusException;
import org.elasticsearch.rest.RestStatus;

/** The indices whose settings name codebooks. */
@FunctionalInterface
public interface CodebookUsers {

  /**
   * Lists the fields that could not use a codebook if it became one for other vectors. Fields that
   * cannot use its present version are left out.
   *
   * @param name name of the codebook
   * @param next the vectors that its next version is for
   * @return one text for each field, with index, field, and what differs; empty if all fit
   */
  List<String> unfit(String name, VectorSpace next);

  /**
   * Refuses a next version that fields in use could not use.
   *
   * @param remedy what the caller can do instead
   * @throws ElasticsearchStatusException with status 409 and the fields
   */
  default void requireFit(String name, VectorSpace next, String remedy) {
    List<String> unfit = unfit(name, next);
    if (!unfit.isEmpty()) {
      throw new ElasticsearchStatusException(
          "codebook ["
              + name
              + "] is in use, and a version with dims ["
              + next.dims()
              + "] and similarity ["
              + next.similarity()
              + "] does not fit "
              + String.join(", ", unfit)
              + "; "
              + remedy,
          RestStatus.CONFLICT);
    }
  }
}
