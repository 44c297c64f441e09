import { expect, test } from "bun:test";
import { DEFAULT_TIMESTAMP, signedCast } from "../support/messages.ts";
import { accountSigner } from "../support/node.ts";
import { SseClient, startTestStreams, textIn } from "../support/streams.ts";

const CASTS = 200;
const FIDS = [1, 2, 3, 4];

/** The same numbers in each run of the test. */
function randoms(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
    return Math.floor((state / 2_147_483_648) * below);
  };
}

test("clients that are cut at random and resume get each matching event once, in order", async () => {
  // So few are kept that clients read from the log, from the tail, and at the border of both.
  await using bench = startTestStreams({ fids: FIDS, deps: { tailLimits: { events: 10 } } });
  const wanted = (author: number) =>
    Array.from({ length: CASTS }, (_, n) => n)
      .filter((n) => author === 0 || FIDS[n % FIDS.length] === author)
      .map(String);

  async function read(author: number, random: (below: number) => number): Promise<string[]> {
    const expected = wanted(author).length;
    const got: string[] = [];
    let cursor: string | undefined;
    const filter = author === 0 ? "kinds=cast.created" : `kinds=cast.created&author_fids=${author}`;
    while (got.length < expected) {
      const from = cursor === undefined ? "since=0" : `cursor=${cursor}`;
      // A new connection may be reset while others are cut: the client tries again, as after any cut.
      const opened = await SseClient.open(bench.url(`${filter}&${from}`)).catch(() => undefined);
      if (!opened) continue;
      await using client = opened;
      for (let left = random(40); left > 0 && got.length < expected; left--) {
        const frame = await client.next();
        if (frame?.event === "cast.created") got.push(textIn(frame));
        cursor = client.lastId ?? cursor;
      }
    }
    return got;
  }

  async function write(): Promise<void> {
    const random = randoms(7);
    for (let n = 0; n < CASTS; ) {
      const count = Math.min(1 + random(20), CASTS - n);
      const messages = Array.from({ length: count }, (_, one) => {
        const fid = FIDS[(n + one) % FIDS.length] ?? 1;
        return signedCast(fid, `${n + one}`, accountSigner(fid), {
          timestamp: DEFAULT_TIMESTAMP - 500 + n + one,
        });
      });
      bench.node.ingestAll(messages.map((bytes) => ({ kind: "message", bytes })));
      n += count;
      await Bun.sleep(random(8));
    }
  }

  const authors = [0, ...FIDS, 0, 1];
  const [, ...results] = await Promise.all([
    write(),
    ...authors.map((author, at) => read(author, randoms(at + 1))),
  ]);
  for (const [at, author] of authors.entries()) expect(results[at]).toEqual(wanted(author));
}, 180_000);
