package dev.vamana.tools.text;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;

/** Questions in words, made of the names of documented members, for measuring recall. */
final class Questions {

  private static final List<String> FORMS =
      List.of("how does %s work?", "what does %s mean?", "where is %s used by %s?", "%s of %s");

  private Questions() {}

  /**
   * Questions about randomly chosen members, each once.
   *
   * @param count wanted; fewer are returned if the passages have fewer members
   * @param seed equal seeds and passages give equal questions
   */
  static List<String> about(List<Passage> passages, int count, long seed) {
    List<Passage> members = new ArrayList<>();
    for (Passage passage : passages) {
      if (member(passage).contains(" ")) {
        members.add(passage);
      }
    }
    Random random = new Random(seed);
    Collections.shuffle(members, random);
    Set<String> questions = new LinkedHashSet<>();
    for (Passage passage : members) {
      if (questions.size() == count) {
        break;
      }
      String form = FORMS.get(random.nextInt(FORMS.size()));
      String type = passage.title().substring(0, passage.title().indexOf('.'));
      questions.add(
          String.format(
              Locale.ROOT,
              form,
              member(passage).toLowerCase(Locale.ROOT),
              Passage.words(type).toLowerCase(Locale.ROOT)));
    }
    return List.copyOf(questions);
  }

  /** The member's name in words; empty for a class or package. */
  private static String member(Passage passage) {
    int dot = passage.title().lastIndexOf('.');
    return passage.anchor().isEmpty() || dot < 0
        ? ""
        : Passage.words(passage.title().substring(dot + 1));
  }
}
