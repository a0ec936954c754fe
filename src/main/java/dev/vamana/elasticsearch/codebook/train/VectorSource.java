package dev.vamana.elasticsearch.codebook.train;

import java.util.List;
import org.elasticsearch.action.ActionListener;

/** Where a training's vectors come from. */
@FunctionalInterface
interface VectorSource {

  /**
   * Vectors to train on.
   *
   * @param rows uniform sample, in the form in which vectors are stored
   * @param vectors how many the sample was drawn from, at least as many
   */
  record Drawn(List<float[]> rows, long vectors) {}

  /**
   * Draws vectors.
   *
   * @param most how many at most
   */
  void draw(int most, ActionListener<Drawn> listener);
}
