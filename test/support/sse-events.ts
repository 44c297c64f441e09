import { SseParser } from "../../src/lib/sse-parser.ts";

/** Reads a stream of server-sent events until `enough` of the bodies so far, and closes it. */
export async function readSseUntil<Body>(
  url: string,
  enough: (bodies: readonly Body[]) => boolean,
  headers: Readonly<Record<string, string>> = {},
): Promise<{ readonly bodies: Body[]; readonly lastId: string }> {
  const stopping = new AbortController();
  const response = await fetch(url, { headers, signal: stopping.signal });
  if (response.status !== 200) throw new Error(`${url} responds with ${response.status}`);
  const parser = new SseParser(1_000_000);
  const bodies: Body[] = [];
  const decoder = new TextDecoder();
  let lastId = "";
  for await (const chunk of response.body ?? []) {
    for (const { id, event, data } of parser.push(decoder.decode(chunk, { stream: true }))) {
      if (event === "hello") continue;
      bodies.push(JSON.parse(data));
      lastId = id;
    }
    if (enough(bodies)) break;
  }
  stopping.abort();
  return { bodies, lastId };
}
