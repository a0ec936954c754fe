package dev.vamana.elasticsearch.wire;

import java.io.IOException;
import org.apache.lucene.tests.util.LuceneTestCase;
import org.elasticsearch.common.io.stream.BytesStreamOutput;
import org.elasticsearch.common.io.stream.StreamInput;

/** A node reads messages of its own version, and of newer ones what it knows. */
public class WireVersionTests extends LuceneTestCase {
  public void testMessageOfTheSameVersion() throws IOException {
    try (BytesStreamOutput out = new BytesStreamOutput()) {
      WireVersion.write(out);
      out.writeString("known");
      StreamInput in = out.bytes().streamInput();
      int version = WireVersion.read(in);
      assertEquals(WireVersion.CURRENT, version);
      assertEquals("known", in.readString());
      WireVersion.end(in, version);
      assertEquals(0, in.available());
    }
  }

  public void testFieldsOfANewerNodeArePassedOver() throws IOException {
    try (BytesStreamOutput out = new BytesStreamOutput()) {
      out.writeVInt(WireVersion.CURRENT + 1 + random().nextInt(1000));
      out.writeString("known");
      out.writeLong(random().nextLong());
      out.writeString("unknown");
      StreamInput in = out.bytes().streamInput();
      int version = WireVersion.read(in);
      assertEquals("known", in.readString());
      WireVersion.end(in, version);
      assertEquals(-1, in.read());
    }
  }

  public void testBytesThatAreNoMessage() throws IOException {
    try (BytesStreamOutput out = new BytesStreamOutput()) {
      out.writeVInt(0);
      IOException e =
          expectThrows(IOException.class, () -> WireVersion.read(out.bytes().streamInput()));
      assertTrue(e.getMessage(), e.getMessage().contains("version 0"));
    }
  }
}
