/**
 * Text for the demo: passages of Javadoc pages, their embeddings, and a page that answers questions
 * with two indices side by side.
 *
 * <p>The sentence encoder needs ONNX Runtime and a model, which only {@code -Dset=text} resolves.
 * Its class therefore lies in {@code src/tools/text/java}; everything here works with any {@link
 * dev.vamana.tools.text.SentenceEncoder}.
 */
package dev.vamana.tools.text;
