import type { Tally } from "./tally.ts";

/** Servers that the node calls: receivers of webhooks, and clients that accept notifications. */
export interface Receivers {
  /** Returns the URL of a receiver that behaves in this way. */
  url(behaviour: Behaviour): string;
  /** Returns tokens that a client has called invalid, which the node has therefore disabled. */
  takeInvalidTokens(): string[];
  /** Records when a cast was submitted, so that its delivery is timed. */
  expect(hash: string): void;
  stop(): Promise<void>;
}

export type Behaviour = "accept" | "fail" | "hang" | "redirect" | "cut" | "flood" | "invalid" | "garbage";

/**
 * Maximum number of casts whose delivery is awaited. Those that no webhook matches are dropped in the order of their
 * submits.
 */
const MAX_EXPECTED = 1000;
/** Longer than the node waits. */
const HANG_MS = 60_000;
const FLOOD_BYTES = 4_000_000;

export function startReceivers(tally: Tally): Receivers {
  const expected = new Map<string, number>();
  let invalid: string[] = [];

  function note(text: string): void {
    const received = JSON.parse(text) as { data?: { hash?: string }; type?: string };
    if (received.type === undefined) {
      tally.done("notifications received");
      return;
    }
    tally.done("deliveries received");
    const submittedMs = expected.get(received.data?.hash ?? "");
    if (submittedMs === undefined) return;
    expected.delete(received.data?.hash ?? "");
    tally.took("submit to delivery", (performance.now() - submittedMs) * 1000);
  }

  const server = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const behaviour = new URL(request.url).pathname.slice(1) as Behaviour;
      const text = await request.text();
      const tokens = (JSON.parse(text) as { tokens?: string[] }).tokens ?? [];
      switch (behaviour) {
        case "fail":
          return new Response("broken", { status: 500 });
        case "hang":
          await Bun.sleep(HANG_MS);
          return new Response("late");
        case "redirect":
          return new Response(null, { status: 302, headers: { location: "http://10.0.0.1/" } });
        case "flood":
          return new Response(new Uint8Array(FLOOD_BYTES));
        case "garbage":
          return new Response(`{"result": ${"[".repeat(1000)}`);
        case "invalid":
          invalid.push(...tokens);
          return Response.json({
            result: { successfulTokens: [], invalidTokens: tokens, rateLimitedTokens: [] },
          });
        default:
          note(text);
          return Response.json({
            result: { successfulTokens: tokens, invalidTokens: [], rateLimitedTokens: [] },
          });
      }
    },
  });
  /** Closes each connection once its request has arrived, half of them in the middle of a response. */
  let cuts = 0;
  const cutting = Bun.listen({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      data(socket) {
        cuts += 1;
        if (cuts % 2 === 0) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 1000\r\n\r\nhalf");
        socket.end();
      },
    },
  });
  return {
    url: (behaviour) => `http://127.0.0.1:${behaviour === "cut" ? cutting.port : server.port}/${behaviour}`,
    takeInvalidTokens() {
      const taken = invalid;
      invalid = [];
      return taken;
    },
    expect(hash) {
      expected.set(hash, performance.now());
      if (expected.size <= MAX_EXPECTED) return;
      const [oldest] = expected.keys();
      if (oldest !== undefined) expected.delete(oldest);
    },
    async stop() {
      cutting.stop(true);
      await server.stop(true);
    },
  };
}
