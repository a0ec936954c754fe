package dev.vamana.codec;

import dev.vamana.search.ExecutorRegistry;
import dev.vamana.search.QueryVector;
import dev.vamana.search.SegmentSearch;
import dev.vamana.search.SegmentViews;
import dev.vamana.vectors.FileCheck;
import dev.vamana.vectors.FileChecks;
import java.io.Closeable;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.lucene.codecs.CodecUtil;
import org.apache.lucene.codecs.KnnVectorsReader;
import org.apache.lucene.codecs.hnsw.FlatVectorsFormat;
import org.apache.lucene.codecs.hnsw.FlatVectorsReader;
import org.apache.lucene.index.ByteVectorValues;
import org.apache.lucene.index.CorruptIndexException;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.FloatVectorValues;
import org.apache.lucene.index.IndexFileNames;
import org.apache.lucene.index.SegmentReadState;
import org.apache.lucene.search.AcceptDocs;
import org.apache.lucene.search.KnnCollector;
import org.apache.lucene.store.ChecksumIndexInput;
import org.apache.lucene.store.DataAccessHint;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FileDataHint;
import org.apache.lucene.store.FileTypeHint;
import org.apache.lucene.store.FilterDirectory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexInput;
import org.apache.lucene.util.IOUtils;

/**
 * Reads and searches the files of {@link VamanaVectorsFormat}. If an executor is registered, the
 * reader announces its fields to the executor when it opens and before it closes.
 */
final class VamanaVectorsReader extends KnnVectorsReader implements SegmentViews {

  // of the raw vectors' file; Lucene does not publish it
  private static final String RAW_EXTENSION = "vec";

  private final FieldInfos fieldInfos;
  private final Map<Integer, SegmentField> fields;
  private final FlatVectorsReader raw;
  private final IndexInput graph;
  private final IndexInput quantization;
  // of whole files that are compared with their checksums; the others are read at random
  private final List<IndexInput> checked;
  // null in merge instances, which use the files of the reader they were made from
  private final LastingFiles files;

  VamanaVectorsReader(SegmentReadState segment, FlatVectorsFormat rawFormat) throws IOException {
    this.fieldInfos = segment.fieldInfos;
    this.fields = new HashMap<>();
    LastingFiles opened = LastingFiles.of(segment, ExecutorRegistry.current() != null);
    SegmentReadState state = opened.state();
    FlatVectorsReader openedRaw = null;
    IndexInput openedGraph = null;
    IndexInput openedQuantization = null;
    List<IndexInput> openedChecked = new ArrayList<>();
    List<SegmentField> told = new ArrayList<>();
    boolean success = false;
    try {
      Map<FieldInfo, FieldMetadata> metadata = readMetadata(state);
      openedRaw = rawFormat.fieldsReader(state);
      openedGraph =
          open(state, VamanaVectorsFormat.GRAPH_EXTENSION, VamanaVectorsFormat.GRAPH_CODEC_NAME);
      openedQuantization =
          open(
              state,
              VamanaVectorsFormat.QUANTIZATION_EXTENSION,
              VamanaVectorsFormat.QUANTIZATION_CODEC_NAME);
      // fields share files
      FileChecks checks =
          new FileChecks(
              check(state, RAW_EXTENSION, openedChecked),
              check(state, VamanaVectorsFormat.GRAPH_EXTENSION, openedChecked),
              check(state, VamanaVectorsFormat.QUANTIZATION_EXTENSION, openedChecked));
      addFields(metadata, state, openedRaw, openedGraph, openedQuantization, checks);
      for (SegmentField field : fields.values()) {
        // before the call, which may fail when the executor knows the field already
        told.add(field);
        ExecutorRegistry.opened(field);
      }
      success = true;
    } finally {
      if (success == false) {
        IOUtils.closeWhileHandlingException(closings(told));
        IOUtils.closeWhileHandlingException(openedChecked);
        IOUtils.closeWhileHandlingException(openedRaw, openedGraph, openedQuantization, opened);
      }
    }
    this.raw = openedRaw;
    this.graph = openedGraph;
    this.quantization = openedQuantization;
    this.checked = openedChecked;
    this.files = opened;
  }

  private void addFields(
      Map<FieldInfo, FieldMetadata> metadata,
      SegmentReadState state,
      FlatVectorsReader rawVectors,
      IndexInput graphs,
      IndexInput codes,
      FileChecks checks)
      throws IOException {
    // state.directory may be a compound file
    Directory directory = FilterDirectory.unwrap(state.segmentInfo.dir);
    for (Map.Entry<FieldInfo, FieldMetadata> entry : metadata.entrySet()) {
      FieldInfo info = entry.getKey();
      fields.put(
          info.number,
          new SegmentField(
              "segment " + state.segmentInfo.name + " field " + info.name,
              directory,
              info.name,
              entry.getValue(),
              state.segmentInfo.maxDoc(),
              rawVectors,
              graphs,
              codes,
              checks));
    }
  }

  /** Closing one tells the executor that it must not read a field any more. */
  private static List<Closeable> closings(Collection<SegmentField> fields) {
    List<Closeable> closings = new ArrayList<>();
    for (SegmentField field : fields) {
      closings.add(() -> ExecutorRegistry.closing(field));
    }
    return closings;
  }

  private VamanaVectorsReader(VamanaVectorsReader reader, FlatVectorsReader raw) {
    this.fieldInfos = reader.fieldInfos;
    this.fields = reader.fields;
    this.raw = raw;
    this.graph = reader.graph;
    this.quantization = reader.quantization;
    this.checked = reader.checked;
    this.files = null;
  }

  private static Map<FieldInfo, FieldMetadata> readMetadata(SegmentReadState state)
      throws IOException {
    String fileName =
        IndexFileNames.segmentFileName(
            state.segmentInfo.name, state.segmentSuffix, VamanaVectorsFormat.META_EXTENSION);
    Map<FieldInfo, FieldMetadata> metadata = new LinkedHashMap<>();
    try (ChecksumIndexInput in = state.directory.openChecksumInput(fileName)) {
      Throwable failure = null;
      try {
        CodecUtil.checkIndexHeader(
            in,
            VamanaVectorsFormat.META_CODEC_NAME,
            VamanaVectorsFormat.VERSION,
            VamanaVectorsFormat.VERSION,
            state.segmentInfo.getId(),
            state.segmentSuffix);
        for (int number = in.readInt(); number != -1; number = in.readInt()) {
          FieldInfo info = state.fieldInfos.fieldInfo(number);
          if (info == null) {
            throw new CorruptIndexException("invalid field number: " + number, in);
          }
          metadata.put(info, FieldMetadata.read(in, info));
        }
      } catch (Throwable t) {
        failure = t;
      } finally {
        CodecUtil.checkFooter(in, failure);
      }
    }
    return metadata;
  }

  /** Opens a file once more, to be read from start to end, and makes its check. */
  private static FileCheck check(SegmentReadState state, String extension, List<IndexInput> opened)
      throws IOException {
    String fileName = fileName(state, extension);
    IndexInput file =
        state.directory.openInput(
            fileName,
            state.context.withHints(
                FileTypeHint.DATA, FileDataHint.KNN_VECTORS, DataAccessHint.SEQUENTIAL));
    opened.add(file);
    return new FileCheck(fileName, file);
  }

  private static String fileName(SegmentReadState state, String extension) {
    return IndexFileNames.segmentFileName(state.segmentInfo.name, state.segmentSuffix, extension);
  }

  private static IndexInput open(SegmentReadState state, String extension, String codecName)
      throws IOException {
    String fileName =
        IndexFileNames.segmentFileName(state.segmentInfo.name, state.segmentSuffix, extension);
    IOContext context =
        state.context.withHints(FileTypeHint.DATA, FileDataHint.KNN_VECTORS, DataAccessHint.RANDOM);
    IndexInput in = state.directory.openInput(fileName, context);
    boolean success = false;
    try {
      CodecUtil.checkIndexHeader(
          in,
          codecName,
          VamanaVectorsFormat.VERSION,
          VamanaVectorsFormat.VERSION,
          state.segmentInfo.getId(),
          state.segmentSuffix);
      CodecUtil.retrieveChecksum(in);
      success = true;
      return in;
    } finally {
      if (success == false) {
        IOUtils.closeWhileHandlingException(in);
      }
    }
  }

  @Override
  public KnnVectorsReader getMergeInstance() throws IOException {
    return new VamanaVectorsReader(this, raw.getMergeInstance());
  }

  @Override
  public void finishMerge() throws IOException {
    raw.finishMerge();
  }

  @Override
  public void checkIntegrity() throws IOException {
    // the raw vectors' file is one of them
    for (IndexInput file : checked) {
      CodecUtil.checksumEntireFile(file);
    }
  }

  @Override
  public FloatVectorValues getFloatVectorValues(String field) throws IOException {
    refuseDamaged(field);
    return raw.getFloatVectorValues(field);
  }

  @Override
  public ByteVectorValues getByteVectorValues(String field) throws IOException {
    refuseDamaged(field);
    return raw.getByteVectorValues(field);
  }

  private void refuseDamaged(String field) throws CorruptIndexException {
    SegmentField view = view(field);
    if (view != null) {
      view.fileChecks().refuseDamaged();
    }
  }

  @Override
  public void search(String field, float[] target, KnnCollector collector, AcceptDocs acceptDocs)
      throws IOException {
    search(field, QueryVector.of(target), collector, acceptDocs);
  }

  @Override
  public void search(String field, byte[] target, KnnCollector collector, AcceptDocs acceptDocs)
      throws IOException {
    search(field, QueryVector.of(target), collector, acceptDocs);
  }

  private void search(
      String field, QueryVector query, KnnCollector collector, AcceptDocs acceptDocs)
      throws IOException {
    SegmentField view = field(field);
    if (view.encoding() != query.encoding()) {
      throw new IllegalArgumentException(
          "field "
              + field
              + " holds "
              + view.encoding()
              + " vectors, the query is "
              + query.encoding());
    }
    // here as well, since a device does not need a scorer
    view.fileChecks().refuseDamaged();
    SegmentSearch.search(view, query, collector, acceptDocs);
  }

  private SegmentField field(String field) {
    SegmentField view = view(field);
    if (view == null) {
      throw new IllegalArgumentException("field " + field + " has no vectors in this segment");
    }
    return view;
  }

  @Override
  public SegmentField view(String field) {
    FieldInfo info = fieldInfos.fieldInfo(field);
    return info == null ? null : fields.get(info.number);
  }

  @Override
  public Map<String, Long> getOffHeapByteSize(FieldInfo fieldInfo) {
    return KnnVectorsReader.mergeOffHeapByteSizeMaps(
        raw.getOffHeapByteSize(fieldInfo), field(fieldInfo.name).offHeapBytes());
  }

  @Override
  public void close() throws IOException {
    try {
      if (files != null) {
        IOUtils.close(closings(fields.values()));
      }
    } finally {
      IOUtils.close(raw, graph, quantization, () -> IOUtils.close(checked), files);
    }
  }
}
