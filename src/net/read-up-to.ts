/** Reads a body up to a limit. Bytes beyond `maxBytes` are not retained. */
export async function readUpTo(response: Response, maxBytes: number) {
  const { headers } = response;
  // A response is never longer than its content-length, and is much cheaper to read in one piece.
  if (!headers.has("transfer-encoding") && Number(headers.get("content-length") ?? Infinity) <= maxBytes) {
    return { body: new Uint8Array(await response.arrayBuffer()), truncated: false };
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  // Leaving the loop early cancels the stream, which closes the connection.
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) break;
  }
  const body = new Uint8Array(Bun.concatArrayBuffers(chunks, maxBytes, false));
  return { body, truncated: length > maxBytes };
}
