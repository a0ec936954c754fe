package dev.vamana.codec;

import dev.vamana.graph.BuildParameters;
import dev.vamana.vectors.RawComparison;
import dev.vamana.work.AbortCheck;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.lucene.codecs.CodecUtil;
import org.apache.lucene.codecs.KnnFieldVectorsWriter;
import org.apache.lucene.codecs.KnnVectorsWriter;
import org.apache.lucene.codecs.hnsw.FlatFieldVectorsWriter;
import org.apache.lucene.codecs.hnsw.FlatVectorsFormat;
import org.apache.lucene.codecs.hnsw.FlatVectorsReader;
import org.apache.lucene.codecs.hnsw.FlatVectorsWriter;
import org.apache.lucene.index.FieldInfo;
import org.apache.lucene.index.FieldInfos;
import org.apache.lucene.index.IndexFileNames;
import org.apache.lucene.index.KnnVectorValues;
import org.apache.lucene.index.MergeState;
import org.apache.lucene.index.SegmentReadState;
import org.apache.lucene.index.SegmentWriteState;
import org.apache.lucene.index.Sorter;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.store.IndexOutput;
import org.apache.lucene.util.IORunnable;
import org.apache.lucene.util.IOUtils;
import org.apache.lucene.util.RamUsageEstimator;

/**
 * Writes the files of {@link VamanaVectorsFormat}.
 *
 * <p>Flush and merge work alike: Lucene's writer writes the raw vectors in their final order, this
 * class opens them again and builds graph and codes from the mapped file.
 */
final class VamanaVectorsWriter extends KnnVectorsWriter {

  private static final long SHALLOW_BYTES =
      RamUsageEstimator.shallowSizeOfInstance(VamanaVectorsWriter.class);

  private final SegmentWriteState state;
  private final FlatVectorsFormat rawFormat;
  private final Building building;
  private final List<BufferedField> buffered = new ArrayList<>();
  private final FlatVectorsWriter rawWriter;
  private final IndexOutput meta;
  private final IndexOutput graph;
  private final IndexOutput quantization;
  private FlatVectorsReader rawReader;
  private boolean rawFinished;
  private boolean finished;

  VamanaVectorsWriter(SegmentWriteState state, FlatVectorsFormat rawFormat, Building building)
      throws IOException {
    this.state = state;
    this.rawFormat = rawFormat;
    this.building = building;
    FlatVectorsWriter openedRaw = null;
    IndexOutput openedMeta = null;
    IndexOutput openedGraph = null;
    IndexOutput openedQuantization = null;
    boolean success = false;
    try {
      openedRaw = rawFormat.fieldsWriter(state);
      openedMeta = create(VamanaVectorsFormat.META_EXTENSION, VamanaVectorsFormat.META_CODEC_NAME);
      openedGraph =
          create(VamanaVectorsFormat.GRAPH_EXTENSION, VamanaVectorsFormat.GRAPH_CODEC_NAME);
      openedQuantization =
          create(
              VamanaVectorsFormat.QUANTIZATION_EXTENSION,
              VamanaVectorsFormat.QUANTIZATION_CODEC_NAME);
      success = true;
    } finally {
      if (success == false) {
        IOUtils.closeWhileHandlingException(openedRaw, openedMeta, openedGraph, openedQuantization);
      }
    }
    this.rawWriter = openedRaw;
    this.meta = openedMeta;
    this.graph = openedGraph;
    this.quantization = openedQuantization;
  }

  private IndexOutput create(String extension, String codecName) throws IOException {
    String fileName =
        IndexFileNames.segmentFileName(state.segmentInfo.name, state.segmentSuffix, extension);
    IndexOutput out = state.directory.createOutput(fileName, state.context);
    boolean success = false;
    try {
      CodecUtil.writeIndexHeader(
          out,
          codecName,
          VamanaVectorsFormat.VERSION,
          state.segmentInfo.getId(),
          state.segmentSuffix);
      success = true;
      return out;
    } finally {
      if (success == false) {
        IOUtils.closeWhileHandlingException(out);
      }
    }
  }

  @Override
  public KnnFieldVectorsWriter<?> addField(FieldInfo fieldInfo) throws IOException {
    FlatFieldVectorsWriter<?> vectors = rawWriter.addField(fieldInfo);
    buffered.add(new BufferedField(fieldInfo, vectors));
    return vectors;
  }

  @Override
  public void flush(int maxDoc, Sorter.DocMap sortMap) throws IOException {
    rawWriter.flush(maxDoc, sortMap);
    for (BufferedField field : buffered) {
      int size = field.vectors.getDocsWithFieldSet().cardinality();
      write(field.info, size, null, AbortCheck.NEVER);
    }
  }

  @Override
  public IORunnable mergeOneField(FieldInfo fieldInfo, MergeState mergeState) throws IOException {
    rawWriter.mergeOneFlatVectorField(fieldInfo, mergeState);
    return () -> {
      FlatVectorsReader reader = rawReader();
      int size =
          switch (fieldInfo.getVectorEncoding()) {
            case BYTE -> reader.getByteVectorValues(fieldInfo.name).size();
            case FLOAT32 -> reader.getFloatVectorValues(fieldInfo.name).size();
          };
      write(fieldInfo, size, mergeState, mergeState::checkAborted);
    };
  }

  private void write(FieldInfo info, int size, MergeState mergeState, AbortCheck abort)
      throws IOException {
    FieldMetadata metadata = FieldMetadata.flat(info, size);
    VamanaParameters parameters = building.parameters();
    boolean lists = parameters.type() == IndexType.IVF;
    boolean large = size > 0 && size >= parameters.graphThreshold(info.getVectorDimension());
    boolean scanned = large == false && parameters.scansCodes(info.getVectorDimension(), size);
    boolean withCodes = lists == false && size > 0 && size >= parameters.quantizationThreshold();
    if (large || scanned || withCodes) {
      FieldIndexer indexer = new FieldIndexer(info, rawReader(), building, abort, state.infoStream);
      MergeSources sources =
          mergeState == null
              ? MergeSources.NONE
              : MergeSources.of(
                  info, mergeState, indexer.vectors(), state.segmentInfo.maxDoc(), abort);
      if (scanned || (large && lists)) {
        metadata = writeLists(info, indexer.vectors(), scanned, sources, abort);
      }
      if (lists == false) {
        FieldMetadata.GraphMetadata graphMetadata = null;
        if (large) {
          BuildParameters build =
              mergeState == null ? parameters.buildAtFlush(size) : parameters.build();
          graphMetadata = indexer.writeGraph(graph, build, sources);
        }
        FieldMetadata.QuantizationMetadata codesMetadata =
            withCodes ? indexer.writeCodes(quantization, sources) : null;
        metadata = FieldMetadata.of(info, size, graphMetadata, metadata.lists(), codesMetadata);
      }
      if (large && mergeState != null && parameters.filterField() != null) {
        metadata =
            metadata.with(indexer.writeLabels(graph, mergeState, state.segmentInfo.maxDoc()));
      }
    }
    meta.writeInt(info.number);
    metadata.write(meta);
  }

  private FieldMetadata writeLists(
      FieldInfo info, KnnVectorValues vectors, boolean one, MergeSources sources, AbortCheck abort)
      throws IOException {
    if (RawComparison.neededFor(vectors.copy(), info.getVectorSimilarityFunction()) != null) {
      // bounds follow from scores, which are too coarse for such vectors
      return FieldMetadata.flat(info, vectors.size());
    }
    ListIndexer indexer = new ListIndexer(info, vectors, building, abort, state.infoStream);
    ListMetadata written = one ? indexer.writeOne(graph) : indexer.write(graph, sources);
    return FieldMetadata.of(info, vectors.size(), null, written, null);
  }

  /** Opens the raw vectors of this segment; all fields must have been written. */
  private FlatVectorsReader rawReader() throws IOException {
    if (rawReader == null) {
      finishRaw();
      rawWriter.close();
      rawReader =
          rawFormat.fieldsReader(
              new SegmentReadState(
                  state.directory,
                  state.segmentInfo,
                  fieldInfos(),
                  // a merge's or flush's context would advise the system to read ahead, but builds
                  // read at random
                  IOContext.DEFAULT,
                  state.segmentSuffix));
    }
    return rawReader;
  }

  /**
   * The segment's fields, or only the buffered ones in a flush: Lucene creates the writer of a
   * flush before it knows the segment's fields.
   */
  private FieldInfos fieldInfos() {
    if (state.fieldInfos != null) {
      return state.fieldInfos;
    }
    return new FieldInfos(buffered.stream().map(BufferedField::info).toArray(FieldInfo[]::new));
  }

  private void finishRaw() throws IOException {
    if (rawFinished == false) {
      rawFinished = true;
      rawWriter.finish();
    }
  }

  @Override
  public void finish() throws IOException {
    if (finished) {
      throw new IllegalStateException("already finished");
    }
    finished = true;
    finishRaw();
    meta.writeInt(-1);
    CodecUtil.writeFooter(meta);
    CodecUtil.writeFooter(graph);
    CodecUtil.writeFooter(quantization);
  }

  @Override
  public long ramBytesUsed() {
    return SHALLOW_BYTES + rawWriter.ramBytesUsed();
  }

  @Override
  public void close() throws IOException {
    IOUtils.close(rawReader, rawWriter, meta, graph, quantization);
  }

  private record BufferedField(FieldInfo info, FlatFieldVectorsWriter<?> vectors) {}
}
