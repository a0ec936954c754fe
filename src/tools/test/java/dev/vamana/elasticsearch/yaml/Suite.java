package dev.vamana.elasticsearch.yaml;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.elasticsearch.xcontent.XContentParser;
import org.elasticsearch.xcontent.XContentParser.Token;
import org.elasticsearch.xcontent.XContentParserConfiguration;
import org.elasticsearch.xcontent.yaml.YamlXContent;

/**
 * The tests of a file.
 *
 * @param name the file's, relative to its folder, without its ending
 * @param setup what runs before each test
 * @param teardown what runs after each test
 * @param tests steps by the test's title, in the file's order
 */
public record Suite(
    String name, List<Step> setup, List<Step> teardown, Map<String, List<Step>> tests) {

  /**
   * A step and where it stands.
   *
   * @param line in the file
   * @param kind such as {@code match}
   * @param argument what stands behind it
   */
  record Step(int line, String kind, Object argument) {}

  /** All files that end in {@code .yml}, in folders inside of the folder too, by name. */
  public static List<Suite> in(Path folder) throws IOException {
    List<Suite> suites = new ArrayList<>();
    try (Stream<Path> files = Files.walk(folder)) {
      for (Path file : files.filter(f -> f.toString().endsWith(".yml")).sorted().toList()) {
        String name = folder.relativize(file).toString().replace(".yml", "");
        suites.add(parse(name, Files.readString(file)));
      }
    }
    return suites;
  }

  private static Suite parse(String name, String yaml) throws IOException {
    Map<String, List<Step>> sections = new LinkedHashMap<>();
    try (XContentParser parser =
        YamlXContent.yamlXContent.createParser(XContentParserConfiguration.EMPTY, yaml)) {
      while (parser.nextToken() != null) {
        while (parser.nextToken() == Token.FIELD_NAME) {
          String title = parser.currentName();
          if (sections.put(title, steps(name, parser)) != null) {
            throw new IllegalArgumentException(name + ": there are two [" + title + "]");
          }
        }
      }
    }
    List<Step> setup = sections.remove("setup");
    List<Step> teardown = sections.remove("teardown");
    if (sections.isEmpty()) {
      throw new IllegalArgumentException(name + ": there are no tests");
    }
    return new Suite(
        name, setup == null ? List.of() : setup, teardown == null ? List.of() : teardown, sections);
  }

  private static List<Step> steps(String file, XContentParser parser) throws IOException {
    List<Step> steps = new ArrayList<>();
    expect(file, parser, parser.nextToken(), Token.START_ARRAY);
    while (parser.nextToken() != Token.END_ARRAY) {
      int line = parser.getTokenLocation().lineNumber();
      expect(file, parser, parser.currentToken(), Token.START_OBJECT);
      expect(file, parser, parser.nextToken(), Token.FIELD_NAME);
      String kind = parser.currentName();
      Object argument =
          parser.nextToken() == Token.START_OBJECT ? parser.mapOrdered() : parser.text();
      steps.add(new Step(line, kind, argument));
      // a second member is one of wrong indentation
      expect(file, parser, parser.nextToken(), Token.END_OBJECT);
    }
    return steps;
  }

  private static void expect(String file, XContentParser parser, Token token, Token expected) {
    if (token != expected) {
      throw new IllegalArgumentException(
          Suite.place(file, parser.getTokenLocation().lineNumber())
              + "expected "
              + expected
              + ", found "
              + token);
    }
  }

  static String place(String file, int line) {
    return file + ":" + line + ": ";
  }

  /** Names of all APIs that the tests call. */
  public Set<String> apis() {
    Set<String> apis = new TreeSet<>();
    for (List<Step> steps : tests.values()) {
      for (Step step : steps) {
        if (step.kind().equals("do")) {
          ((Map<?, ?>) step.argument()).keySet().forEach(key -> apis.add((String) key));
        }
      }
    }
    return apis;
  }
}
