package dev.vamana.elasticsearch.search;

import java.io.IOException;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.elasticsearch.common.bytes.BytesArray;
import org.elasticsearch.common.bytes.BytesReference;
import org.elasticsearch.common.bytes.ReleasableBytesReference;
import org.elasticsearch.common.document.DocumentField;
import org.elasticsearch.common.io.stream.StreamInput;
import org.elasticsearch.common.io.stream.StreamOutput;
import org.elasticsearch.common.io.stream.Writeable;
import org.elasticsearch.search.SearchHit;

/**
 * The parts read of documents, in the order of the request.
 *
 * @param ids ids of the documents
 * @param contents the other parts; null if only ids were requested
 */
record FetchedDocs(String[] ids, Content[] contents) implements Writeable {

  /** The parts of no documents. */
  static final FetchedDocs NONE = new FetchedDocs(new String[0], new Content[0]);

  /** Approximate bytes of an id with its object. */
  static final int ID_BYTES = 64;

  /** Approximate bytes of a document's other parts, without source and fields. */
  private static final int CONTENT_BYTES = 64;

  /** Approximate bytes of a field without its values, or of a value without its content. */
  private static final int FIELD_BYTES = 64;

  /**
   * The parts read of a document, except its id.
   *
   * @param source may be null
   * @param fields the requested fields
   * @param metadata fields about the document
   */
  record Content(
      BytesReference source,
      Map<String, DocumentField> fields,
      Map<String, DocumentField> metadata) {

    /** Copies the parts of a hit, which may be released afterwards. */
    static Content of(SearchHit hit) {
      BytesReference source = hit.getSourceRef();
      if (source instanceof ReleasableBytesReference) {
        source = new BytesArray(BytesReference.toBytes(source));
      }
      return new Content(
          source,
          new LinkedHashMap<>(hit.getDocumentFields()),
          new LinkedHashMap<>(hit.getMetadataFields()));
    }

    static Content readFrom(StreamInput in) throws IOException {
      return new Content(in.readOptionalBytesReference(), readFields(in), readFields(in));
    }

    private static Map<String, DocumentField> readFields(StreamInput in) throws IOException {
      return in.readMapValues(DocumentField::new, DocumentField::getName, LinkedHashMap::new);
    }

    void writeTo(StreamOutput out) throws IOException {
      out.writeOptionalBytesReference(source);
      out.writeMapValues(fields);
      out.writeMapValues(metadata);
    }
  }

  static FetchedDocs readFrom(StreamInput in) throws IOException {
    String[] ids = in.readStringArray();
    Content[] contents = in.readBoolean() ? new Content[ids.length] : null;
    if (contents != null) {
      for (int i = 0; i < contents.length; i++) {
        contents[i] = Content.readFrom(in);
      }
    }
    return new FetchedDocs(ids, contents);
  }

  @Override
  public void writeTo(StreamOutput out) throws IOException {
    out.writeStringArray(ids);
    out.writeBoolean(contents != null);
    if (contents != null) {
      for (Content content : contents) {
        content.writeTo(out);
      }
    }
  }

  /** Approximate memory of these documents in bytes. */
  long ramBytesUsed() {
    long bytes = (long) ids.length * ID_BYTES;
    if (contents != null) {
      for (Content content : contents) {
        bytes +=
            CONTENT_BYTES
                + (content.source() == null ? 0 : content.source().length())
                + bytesOf(content.fields().values())
                + bytesOf(content.metadata().values());
      }
    }
    return bytes;
  }

  private static long bytesOf(Object value) {
    long bytes = FIELD_BYTES;
    if (value instanceof DocumentField field) {
      bytes += bytesOf(field.getValues());
    } else if (value instanceof String text) {
      bytes += text.length();
    } else if (value instanceof Map<?, ?> object) {
      bytes += bytesOf(object.values());
    } else if (value instanceof Collection<?> several) {
      for (Object one : several) {
        bytes += bytesOf(one);
      }
    }
    return bytes;
  }
}
