package dev.vamana.elasticsearch.codebook.train;

import dev.vamana.elasticsearch.codebook.sample.SampleMemory;
import java.util.List;
import org.elasticsearch.action.ActionListener;

/** Gives the vectors of a training. */
@FunctionalInterface
interface VectorSource {

  /**
   * Vectors to train on.
   *
   * @param rows a uniform sample, in the form in which vectors are stored
   * @param vectors number of vectors that the sample was drawn from, at least the number of rows
   */
  record Drawn(List<float[]> rows, long vectors) {}

  /**
   * Draws vectors.
   *
   * @param most most vectors to draw
   * @param memory counts the vectors before they are kept; the caller closes it
   */
  void draw(int most, SampleMemory.Rows memory, ActionListener<Drawn> listener);
}
