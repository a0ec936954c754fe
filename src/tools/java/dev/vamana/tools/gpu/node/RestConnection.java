package dev.vamana.tools.gpu.node;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.Closeable;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Locale;

/**
 * A persistent HTTP/1.1 connection for prepared requests, sent one after the other. It does the
 * minimum of work, since clients share the machine with the node that they measure.
 */
final class RestConnection implements Closeable {

  private static final int TIMEOUT_MILLIS = 60_000;

  private final Socket socket;
  private final OutputStream out;
  private final InputStream in;

  /** Connects to a node. */
  RestConnection(URI node) throws IOException {
    socket = new Socket();
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    socket.connect(new InetSocketAddress(node.getHost(), node.getPort()), TIMEOUT_MILLIS);
    out = socket.getOutputStream();
    in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
  }

  /** Makes a POST request with a JSON body, which can be sent any number of times. */
  static byte[] post(URI node, String path, String json) {
    byte[] body = json.getBytes(StandardCharsets.UTF_8);
    String head =
        String.format(
            Locale.ROOT,
            "POST %s HTTP/1.1\r\nHost: %s:%d\r\nContent-Type: application/json\r\n"
                + "Content-Length: %d\r\n\r\n",
            path,
            node.getHost(),
            node.getPort(),
            body.length);
    byte[] start = head.getBytes(StandardCharsets.US_ASCII);
    byte[] request = new byte[start.length + body.length];
    System.arraycopy(start, 0, request, 0, start.length);
    System.arraycopy(body, 0, request, start.length, body.length);
    return request;
  }

  /**
   * Sends a request and reads the answer.
   *
   * @return the body
   * @throws IOException if the connection breaks or the status is not 200
   */
  byte[] send(byte[] request) throws IOException {
    out.write(request);
    out.flush();
    String status = line();
    int length = -1;
    boolean chunked = false;
    for (String header = line(); header.isEmpty() == false; header = line()) {
      String lower = header.toLowerCase(Locale.ROOT);
      if (lower.startsWith("content-length:")) {
        length = Integer.parseInt(lower.substring("content-length:".length()).strip());
      } else if (lower.startsWith("transfer-encoding:")) {
        chunked = lower.contains("chunked");
      }
    }
    byte[] body = chunked ? chunks() : exactly(length);
    if (status.startsWith("HTTP/1.1 200") == false) {
      throw new IOException(status + ": " + new String(body, StandardCharsets.UTF_8));
    }
    return body;
  }

  private byte[] chunks() throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    for (int size = chunkSize(); size > 0; size = chunkSize()) {
      body.write(exactly(size));
      line();
    }
    line();
    return body.toByteArray();
  }

  private int chunkSize() throws IOException {
    return Integer.parseInt(line().split(";", 2)[0].strip(), 16);
  }

  private byte[] exactly(int length) throws IOException {
    if (length < 0) {
      throw new IOException("an answer without a length");
    }
    byte[] bytes = in.readNBytes(length);
    if (bytes.length < length) {
      throw new EOFException("the node closed the connection in the middle of an answer");
    }
    return bytes;
  }

  private String line() throws IOException {
    StringBuilder line = new StringBuilder(64);
    for (int c = in.read(); c != '\n'; c = in.read()) {
      if (c < 0) {
        throw new EOFException("the node closed the connection");
      }
      if (c != '\r') {
        line.append((char) c);
      }
    }
    return line.toString();
  }

  @Override
  public void close() throws IOException {
    socket.close();
  }
}
