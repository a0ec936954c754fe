package dev.vamana.cuda.question;

import java.io.Closeable;
import java.util.List;

/** Some questions with what they need on the device. */
interface Questions extends Closeable {

  /** Returns the questions, which can be asked until this is closed. */
  List<Question> all();

  /**
   * Frees everything, also after a failure.
   *
   * @throws dev.vamana.cuda.driver.GpuException if the driver does not give something back
   */
  @Override
  void close();
}
