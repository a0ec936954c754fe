package dev.vamana.elasticsearch.yaml;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.elasticsearch.common.logging.HeaderWarning;

/**
 * Which warnings a call has to and may bring. Any other fails it.
 *
 * @param expected texts that have to come
 * @param expectedPatterns each has to match one
 * @param allowed texts that may come
 * @param allowedPatterns what they match may come
 */
record Warnings(
    List<String> expected,
    List<Pattern> expectedPatterns,
    List<String> allowed,
    List<Pattern> allowedPatterns) {

  /** Takes a call's members about warnings out of {@code members}. */
  static Warnings take(Map<String, Object> members) {
    return new Warnings(
        texts(members, "warnings"),
        patterns(members, "warnings_regex"),
        texts(members, "allowed_warnings"),
        patterns(members, "allowed_warnings_regex"));
  }

  private static List<String> texts(Map<String, Object> members, String key) {
    Object value = members.remove(key);
    if (value == null) {
      return List.of();
    }
    if (value instanceof List == false) {
      throw new IllegalArgumentException("[" + key + "] has to be a list, is [" + value + "]");
    }
    return Content.texts(value, "[" + key + "]");
  }

  private static List<Pattern> patterns(Map<String, Object> members, String key) {
    return texts(members, key).stream().map(Pattern::compile).toList();
  }

  /** Whether a warning has to come. */
  boolean expectsAny() {
    return !expected.isEmpty() || !expectedPatterns.isEmpty();
  }

  /**
   * Compares with the warnings that came.
   *
   * @param what was called
   * @param headers the warnings, as the headers have them
   * @param alsoAllowed what these match may come, too
   */
  void check(String what, List<String> headers, List<Pattern> alsoAllowed) {
    List<String> missing = new ArrayList<>(escaped(expected));
    List<Pattern> unmatched = new ArrayList<>(expectedPatterns);
    List<Pattern> fine = new ArrayList<>(allowedPatterns);
    fine.addAll(alsoAllowed);
    List<String> unexpected = new ArrayList<>();
    for (String header : headers) {
      if (!HeaderWarning.warningHeaderPatternMatches(header)) {
        throw new AssertionError(what + " brought a malformed warning: " + header);
      }
      String warning = HeaderWarning.extractWarningValueFromWarningHeader(header, true);
      boolean taken = missing.remove(warning);
      taken |= unmatched.removeIf(pattern -> pattern.matcher(warning).matches());
      taken |= escaped(allowed).contains(warning);
      taken |= fine.stream().anyMatch(pattern -> pattern.matcher(warning).matches());
      if (!taken) {
        unexpected.add(warning);
      }
    }
    if (!unexpected.isEmpty() || !missing.isEmpty() || !unmatched.isEmpty()) {
      throw new AssertionError(
          what
              + " brought unexpected warnings "
              + unexpected
              + ", did not bring "
              + missing
              + ", none matched "
              + unmatched);
    }
  }

  private static List<String> escaped(List<String> texts) {
    return texts.stream().map(HeaderWarning::escapeAndEncode).toList();
  }
}
