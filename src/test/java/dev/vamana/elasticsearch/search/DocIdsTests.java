package dev.vamana.elasticsearch.search;

import static org.junit.Assert.assertEquals;

import com.carrotsearch.randomizedtesting.RandomizedTest;
import dev.vamana.elasticsearch.ServerClasses;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.util.BytesRef;
import org.elasticsearch.common.UUIDs;
import org.elasticsearch.common.io.stream.BytesStreamOutput;
import org.elasticsearch.index.mapper.Uid;
import org.junit.BeforeClass;
import org.junit.Test;

public class DocIdsTests extends RandomizedTest {

  @BeforeClass
  public static void readyServerClasses() {
    ServerClasses.ready();
  }

  private static String id() {
    return switch (getRandom().nextInt(5)) {
      case 0 -> Integer.toString(getRandom().nextInt(1_000_000));
      case 1 -> Long.toString(getRandom().nextLong());
      case 2 -> "0" + getRandom().nextInt(100);
      case 3 -> UUIDs.base64UUID();
      default -> randomUnicodeOfCodepointLengthBetween(1, 80);
    };
  }

  private static List<String> ids(int count) {
    List<String> ids = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      ids.add(id());
    }
    return ids;
  }

  private static void assertIds(List<String> expected, DocIds ids) {
    assertEquals(expected.size(), ids.size());
    for (int i = 0; i < expected.size(); i++) {
      assertEquals(expected.get(i), ids.get(i));
    }
  }

  @Test
  public void testStored() {
    List<String> expected = ids(getRandom().nextInt(2000));
    DocIds.Builder builder = new DocIds.Builder(getRandom().nextInt(expected.size() + 1));
    for (String id : expected) {
      BytesRef stored = Uid.encodeId(id);
      int offset = getRandom().nextInt(3);
      byte[] bytes = new byte[offset + stored.length + getRandom().nextInt(3)];
      System.arraycopy(stored.bytes, stored.offset, bytes, offset, stored.length);
      builder.addStored(bytes, offset, stored.length);
    }
    assertEquals(expected.size(), builder.size());
    assertIds(expected, builder.build());
  }

  @Test
  public void testConcat() {
    List<String> all = new ArrayList<>();
    List<DocIds> parts = new ArrayList<>();
    for (int part = getRandom().nextInt(4); part >= 0; part--) {
      List<String> ids = ids(getRandom().nextInt(20));
      all.addAll(ids);
      parts.add(DocIds.of(ids.toArray(String[]::new)));
    }
    assertIds(all, DocIds.concat(parts));
    assertIds(List.of(), DocIds.concat(List.of()));
  }

  @Test
  public void testWire() throws Exception {
    List<String> expected = ids(getRandom().nextInt(100));
    try (BytesStreamOutput out = new BytesStreamOutput()) {
      DocIds.of(expected.toArray(String[]::new)).writeTo(out);
      assertIds(expected, DocIds.readFrom(out.bytes().streamInput()));
    }
  }
}
