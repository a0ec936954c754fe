package org.elasticsearch.io.ansi;

import java.util.function.Supplier;

/**
 * Says that there is no ANSI console.
 *
 * <p>A modular Elasticsearch node asks the one jar in {@code lib/tools/ansi-console} for a class of
 * this name and does not start without it. The distribution's own jar is not on Maven Central, so
 * the assembled node gets this one; a null console is a permitted answer.
 */
public final class AnsiConsoleLoader implements Supplier<Object> {

  /** Called by the node through the class's public constructor. */
  public AnsiConsoleLoader() {}

  @Override
  public Object get() {
    return null;
  }
}
