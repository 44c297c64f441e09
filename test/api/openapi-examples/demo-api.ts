import { storeRankings, storeTopics } from "../../../src/db/index/counts/rankings.ts";
import { createKeyring } from "../../../src/demo/keys.ts";
import { refreshRankings } from "../../../src/ingest/ranking.ts";
import { createTopicFinder } from "../../../src/ingest/topics/topics.ts";
import { ok } from "../../../src/lib/result.ts";
import type { OutboundClient } from "../../../src/net/client.ts";
import { startTestApi, type TestApi } from "../../support/api.ts";
import { addDemoChannels, demoIndex } from "../../support/demo-index.ts";

/** A registered channel of the demo network, with a pin, a hidden cast and a ban. */
export const REGISTERED_CHANNEL = "night-trains";

/** The fid that signs the examples of signed operations. */
export const OWNER_FID = 3;

export const keyring = createKeyring();

/** The HTTP interface over the demo network, at the end of its week. The clock does not move. */
export async function startDemoApi(): Promise<TestApi> {
  const api = await startTestApi({
    compatPrefixes: ["farcaster"],
    index: await demoIndex(),
    client: pushClient,
    settings: [`signers.encryption_key=${"5a".repeat(32)}`],
  });
  const { db, clock } = api.node;
  addDemoChannels(api.node);
  const store = async (snapshot: Parameters<typeof storeRankings>[1]) => storeRankings(db, snapshot);
  await refreshRankings({ db, clock, windowHours: 24, store });
  const topics = await createTopicFinder({ db, scores: undefined, turn: async () => undefined }).topicsAt(
    clock.nowMs(),
  );
  if (topics) storeTopics(db, topics);
  return api;
}

/** The notification server of a client app: it accepts every token. */
const pushClient: OutboundClient = {
  async request({ body }) {
    const { tokens } = JSON.parse(String(body)) as { tokens: string[] };
    const result = { successfulTokens: tokens, invalidTokens: [], rateLimitedTokens: [] };
    const response = Buffer.from(JSON.stringify({ result }));
    return ok({
      status: 200,
      headers: new Headers({ "content-type": "application/json" }),
      body: new Uint8Array(response),
      truncated: false,
      durationMs: 12,
    });
  },
};
