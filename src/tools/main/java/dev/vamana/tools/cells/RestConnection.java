package dev.vamana.tools.cells;

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
public final class RestConnection implements Closeable {

  private static final int TIMEOUT_MILLIS = 60_000;

  private final Socket socket;
  private final OutputStream out;
  private final InputStream in;
  private final byte[] part = new byte[1 << 16];

  /** Connects to a node. */
  public RestConnection(URI node) throws IOException {
    socket = new Socket();
    socket.setTcpNoDelay(true);
    socket.setSoTimeout(TIMEOUT_MILLIS);
    socket.connect(new InetSocketAddress(node.getHost(), node.getPort()), TIMEOUT_MILLIS);
    out = socket.getOutputStream();
    in = new BufferedInputStream(socket.getInputStream(), 1 << 16);
  }

  /** Makes a POST request with a JSON body, which can be sent any number of times. */
  public static byte[] post(URI node, String path, String json) {
    return post(node, path, "application/json", json.getBytes(StandardCharsets.UTF_8));
  }

  /** Makes a POST request with a body, which can be sent any number of times. */
  public static byte[] post(URI node, String path, String contentType, byte[] body) {
    String head =
        String.format(
            Locale.ROOT,
            "POST %s HTTP/1.1\r\nHost: %s:%d\r\nContent-Type: %s\r\n"
                + "Content-Length: %d\r\n\r\n",
            path,
            node.getHost(),
            node.getPort(),
            contentType,
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
  public byte[] send(byte[] request) throws IOException {
    ByteArrayOutputStream body = new ByteArrayOutputStream();
    send(request, body);
    return body.toByteArray();
  }

  /**
   * Sends a request, reads the answer and forgets it.
   *
   * @throws IOException if the connection breaks or the status is not 200
   */
  public void sendAndForget(byte[] request) throws IOException {
    send(request, OutputStream.nullOutputStream());
  }

  private void send(byte[] request, OutputStream body) throws IOException {
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
    boolean succeeded = status.startsWith("HTTP/1.1 200");
    ByteArrayOutputStream failure = new ByteArrayOutputStream();
    OutputStream taken = succeeded ? body : failure;
    if (chunked) {
      for (int size = chunkSize(); size > 0; size = chunkSize()) {
        exactly(size, taken);
        line();
      }
      line();
    } else {
      exactly(length, taken);
    }
    if (succeeded == false) {
      throw new IOException(status + ": " + failure.toString(StandardCharsets.UTF_8));
    }
  }

  private int chunkSize() throws IOException {
    return Integer.parseInt(line().split(";", 2)[0].strip(), 16);
  }

  private void exactly(int length, OutputStream to) throws IOException {
    if (length < 0) {
      throw new IOException("an answer without a length");
    }
    for (int left = length; left > 0; ) {
      int read = in.read(part, 0, Math.min(part.length, left));
      if (read < 0) {
        throw new EOFException("the node closed the connection in the middle of an answer");
      }
      to.write(part, 0, read);
      left -= read;
    }
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
