import { afterAll, beforeAll, expect, test } from "bun:test";
import { appendHubBlock } from "../../../src/db/index/log/hub-log.ts";
import { encodeHubBody } from "../../../src/ingest/hub-log/operation-events.ts";
import { firstEventId } from "../../../src/protocol/hub-event-id.ts";
import { HubEventType } from "../../../src/protocol/wire/generated/hub.ts";
import { startTestApi, type TestApi } from "../../support/api.ts";
import { signedCast } from "../../support/messages.ts";
import { accountSigner } from "../../support/node.ts";

const FIRST = 100;
const BLOCKS = 10;

let api: TestApi;

beforeAll(async () => {
  api = await startTestApi();
  api.node.db.transaction(() => {
    for (let height = FIRST; height < FIRST + BLOCKS; height++) {
      const message = signedCast(3, `cast ${height}`, accountSigner(3));
      const event = {
        id: firstEventId(height) + 1,
        type: HubEventType.HUB_EVENT_TYPE_MERGE_MESSAGE,
        fid: 3,
        body: encodeHubBody({ $case: "merge", value: { message, deletedMessages: [] } }),
      };
      const block = { shard: 1, height, at: height, hash: new Uint8Array(), seqnum: 0, events: [event] };
      appendHubBlock(api.node.db, block);
    }
  });
});
afterAll(() => api[Symbol.asyncDispose]());

interface Events {
  readonly events: readonly { readonly id: number; readonly type: string }[];
  readonly nextPageToken: string;
  readonly nextPageEventId: number;
  readonly oldestEventId: number;
}

const events = async (query: string) => (await api.get(`/v1/events?${query}`)).body as unknown as Events;

test("clients of the retired hub page by nextPageEventId until a page is empty", async () => {
  const ids: number[] = [];
  let from = 0;
  for (;;) {
    const page = await events(`from_event_id=${from}&pageSize=3`);
    if (page.events.length === 0) {
      expect(page.nextPageEventId).toBe(from);
      break;
    }
    ids.push(...page.events.map(({ id }) => id));
    from = page.nextPageEventId;
  }
  const expected = Array.from({ length: BLOCKS }, (_, at) => firstEventId(FIRST + at)).flatMap((id) => [
    id,
    id + 1,
  ]);
  expect(ids).toEqual(expected);
});

test("pages by token end with an empty one, and stop_id is left out", async () => {
  const stop = firstEventId(FIRST + 2);
  const first = await events(`pageSize=3&stop_id=${stop}`);
  const second = await events(`pageSize=3&stop_id=${stop}&pageToken=${first.nextPageToken}`);
  expect([...first.events, ...second.events].map(({ type }) => type)).toEqual([
    "HUB_EVENT_TYPE_BLOCK_CONFIRMED",
    "HUB_EVENT_TYPE_MERGE_MESSAGE",
    "HUB_EVENT_TYPE_BLOCK_CONFIRMED",
    "HUB_EVENT_TYPE_MERGE_MESSAGE",
  ]);
  expect(second.nextPageToken).toBe("");
});

test("headers give the range of the log, and say when events before it are missing", async () => {
  const response = await fetch(`${api.url}/v1/events?from_event_id=5`);
  expect(response.headers.get("x-oldest-event-id")).toBe(`1=${firstEventId(FIRST)}`);
  expect(response.headers.get("x-head-event-id")).toBe(`1=${firstEventId(FIRST + BLOCKS - 1) + 1}`);
  expect(response.headers.get("x-events-missing")).toBe("1");
  const strict = await fetch(`${api.url}/v1/events?from_event_id=5`, {
    headers: { "x-strict-from-id": "1" },
  });
  expect([strict.status, ((await strict.json()) as { errCode: string }).errCode]).toEqual([
    400,
    "bad_request.events_pruned",
  ]);
});

test("an event has the keys of the reference node", async () => {
  const id = firstEventId(FIRST) + 1;
  const { body } = await api.get(`/v1/eventById?event_id=${id}&shard_index=1`);
  expect(Object.keys(body)).toEqual([
    "type",
    "id",
    "mergeMessageBody",
    "blockNumber",
    "shardIndex",
    "timestamp",
  ]);
  const confirmed = (await api.get(`/v1/eventById?event_id=${firstEventId(FIRST)}`)).body;
  expect(confirmed.blockConfirmedBody).toEqual({
    blockNumber: FIRST,
    shardIndex: 1,
    timestamp: FIRST,
    blockHash: "0x",
    totalEvents: 2,
    eventCountsByType: { 1: 1, 11: 1 },
    maxBlockEventSeqnum: 0,
  });
});

test("refuses unknown events, shards and ids", async () => {
  for (const [path, code] of [
    [`eventById?event_id=${firstEventId(FIRST) + 9}`, "not_found"],
    ["eventById?event_id=abc", "bad_request.invalid_param"],
    ["events?from_event_id=99999999999999999999", "bad_request.invalid_param"],
    ["events?shard_index=7", "bad_request.invalid_param"],
    ["events?pageToken=garbage", "bad_request.invalid_param"],
  ]) {
    const response = await fetch(`${api.url}/v1/${path}`);
    expect([path, ((await response.json()) as { errCode: string }).errCode]).toEqual([path, code]);
  }
});
