package dev.vamana.elasticsearch.yaml;

import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.elasticsearch.xcontent.XContentParser;
import org.elasticsearch.xcontent.XContentParser.Token;
import org.elasticsearch.xcontent.XContentParserConfiguration;
import org.elasticsearch.xcontent.yaml.YamlXContent;

/**
 * The tests of a file.
 *
 * @param name the file's
 * @param setup what runs before each test
 * @param teardown what runs after each test
 * @param tests in their order
 */
public record Suite(String name, Section setup, Section teardown, List<Section> tests) {

  /**
   * Steps under a title.
   *
   * @param title of the test, or {@code setup} or {@code teardown}
   * @param prerequisites what comes before the steps
   * @param steps in their order
   */
  public record Section(String title, List<Prerequisite> prerequisites, List<PlacedStep> steps) {}

  /**
   * A step and where it stands.
   *
   * @param line in the file
   * @param kind such as {@code match}
   * @param step what it does
   */
  record PlacedStep(int line, String kind, Step step) {}

  /**
   * Reads a file.
   *
   * @param name for messages
   * @param yaml the file's text
   * @throws IllegalArgumentException if something in it is unknown or malformed
   */
  public static Suite parse(String name, String yaml) throws IOException {
    Section setup = new Section("setup", List.of(), List.of());
    Section teardown = new Section("teardown", List.of(), List.of());
    List<Section> tests = new ArrayList<>();
    Set<String> titles = new HashSet<>();
    try (XContentParser parser =
        YamlXContent.yamlXContent.createParser(XContentParserConfiguration.EMPTY, yaml)) {
      while (parser.nextToken() != null) {
        expect(name, parser, Token.START_OBJECT);
        while (parser.nextToken() == Token.FIELD_NAME) {
          Section section = section(name, parser);
          if (!titles.add(section.title())) {
            throw failure(name, parser, "there are two [" + section.title() + "]");
          }
          switch (section.title()) {
            case "setup" -> setup = section;
            case "teardown" -> teardown = section;
            default -> tests.add(section);
          }
        }
      }
    }
    if (tests.isEmpty()) {
      throw new IllegalArgumentException(name + ": there are no tests");
    }
    return new Suite(name, setup, teardown, List.copyOf(tests));
  }

  private static Section section(String file, XContentParser parser) throws IOException {
    String title = parser.currentName();
    parser.nextToken();
    expect(file, parser, Token.START_ARRAY);
    List<Prerequisite> prerequisites = new ArrayList<>();
    List<PlacedStep> steps = new ArrayList<>();
    while (parser.nextToken() != Token.END_ARRAY) {
      expect(file, parser, Token.START_OBJECT);
      int line = Content.line(parser);
      parser.nextToken();
      expect(file, parser, Token.FIELD_NAME);
      String kind = parser.currentName();
      try {
        parser.nextToken();
        Object argument = Content.value(parser);
        boolean prerequisite = kind.equals("requires") || kind.equals("skip");
        if (!prerequisite) {
          steps.add(new PlacedStep(line, kind, Step.parse(kind, argument)));
        } else if (steps.isEmpty()) {
          prerequisites.add(
              kind.equals("skip") ? Prerequisite.skip(argument) : Prerequisite.requires(argument));
        } else {
          throw new IllegalArgumentException("[" + kind + "] has to come before all steps");
        }
      } catch (IllegalArgumentException e) {
        throw new IllegalArgumentException(file + ":" + line + ": " + e.getMessage(), e);
      }
      if (parser.nextToken() != Token.END_OBJECT) {
        throw failure(file, parser, "a step has one member, is the indentation wrong?");
      }
    }
    return new Section(title, List.copyOf(prerequisites), List.copyOf(steps));
  }

  private static void expect(String file, XContentParser parser, Token token) {
    if (parser.currentToken() != token) {
      throw failure(file, parser, "expected " + token + ", found " + parser.currentToken());
    }
  }

  private static IllegalArgumentException failure(
      String file, XContentParser parser, String message) {
    return new IllegalArgumentException(file + ":" + Content.line(parser) + ": " + message);
  }

  /** Names of all APIs that the file calls. */
  public Set<String> apis() {
    Set<String> apis = new TreeSet<>();
    List<Section> all = new ArrayList<>(tests);
    all.add(setup);
    all.add(teardown);
    for (Section section : all) {
      for (PlacedStep placed : section.steps()) {
        addApis(placed.step(), apis);
      }
    }
    return apis;
  }

  private static void addApis(Step step, Set<String> apis) {
    if (step instanceof DoStep call) {
      apis.add(call.api());
    } else if (step instanceof EventuallyStep eventually) {
      eventually.steps().forEach(inside -> addApis(inside, apis));
    }
  }
}
