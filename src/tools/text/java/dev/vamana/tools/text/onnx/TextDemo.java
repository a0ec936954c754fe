package dev.vamana.tools.text.onnx;

import dev.vamana.tools.demo.Demo;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

/** The demo with a sentence encoder: {@code mvn -Pdemo verify -Dset=text}. */
public final class TextDemo {

  private TextDemo() {}

  /**
   * Runs the demo and ends this JVM.
   *
   * @param arguments as {@link Demo#main} takes them
   */
  public static void main(String[] arguments) {
    // the tokenizer unpacks its library there
    System.setProperty("DJL_CACHE_DIR", "target/demo-text/djl");
    // nobody wants the log of the encoder's libraries
    System.setProperty("slf4j.internal.verbosity", "ERROR");
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.exit(Demo.run(arguments, MiniLmEncoder::new, out));
  }
}
