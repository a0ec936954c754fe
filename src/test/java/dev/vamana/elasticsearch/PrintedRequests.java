package dev.vamana.elasticsearch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Requests that a page prints in the form of a console, in blocks or within its text. */
final class PrintedRequests {
  private static final Pattern INLINE = Pattern.compile("`((?:GET|PUT|POST|DELETE)\\s[^`]+)`");
  private static final Pattern START =
      Pattern.compile("^(?=(GET|PUT|POST|DELETE) )", Pattern.MULTILINE);

  private PrintedRequests() {}

  /**
   * A request.
   *
   * @param method of HTTP
   * @param path begins with a slash; names in braces stand for others
   * @param body null for none
   * @param answer what the page shows behind a GET, or null
   */
  record Request(String method, String path, String body, String answer) {
    private static Request of(String printed) {
      String[] parts = printed.strip().split("\\s+", 3);
      String path = parts[1].startsWith("/") ? parts[1] : "/" + parts[1];
      String rest = parts.length > 2 ? parts[2] : null;
      return parts[0].equals("GET")
          ? new Request(parts[0], path, null, rest)
          : new Request(parts[0], path, rest, null);
    }

    /** The request with one name in its path replaced. */
    Request with(String name, String value) {
      return new Request(method, path.replace("{" + name + "}", value), body, answer);
    }

    Request withBody(String changed) {
      return new Request(method, path, changed, answer);
    }

    @Override
    public String toString() {
      return method + " " + path;
    }
  }

  /** The requests of a page in their order. */
  static List<Request> of(Path page) throws IOException {
    String text = Files.readString(page);
    List<MatchResult> blocks = PrintedCommands.BLOCK.matcher(text).results().toList();
    List<Request> requests = new ArrayList<>();
    Stream.concat(
            blocks.stream(),
            INLINE.matcher(text).results().filter(match -> isOutside(match, blocks)))
        .sorted(Comparator.comparing(MatchResult::start))
        .forEach(match -> addRequests(match.group(match.groupCount()), requests));
    return requests;
  }

  private static boolean isOutside(MatchResult match, List<MatchResult> blocks) {
    return blocks.stream()
        .noneMatch(block -> block.start() <= match.start() && match.end() <= block.end());
  }

  private static void addRequests(String code, List<Request> requests) {
    START
        .splitAsStream(code)
        .filter(part -> START.matcher(part).lookingAt())
        .forEach(part -> requests.add(Request.of(part)));
  }
}
