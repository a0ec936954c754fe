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
    PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
    System.exit(Demo.run(arguments, OnnxEncoder::new, out));
  }
}
